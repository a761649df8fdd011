import type { FileSystemUsage, TreeUsage } from '../../system/files/file-usage.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { StatsFamily } from './reports/stats-family.ts'
import type { CgroupSample } from './sampling/cgroup-sample.ts'
import type { DiskCounters } from './sampling/parse-disk-stats.ts'
import type { InterfaceCounters } from './sampling/parse-net-dev.ts'

/**
 * The parts of a snapshot, beside cpu and memory of the node. Overview: those of each pod as a whole. Usage: that of every cgroup. Details: the rest of what cgroups count. Network: the
 * interfaces of pods. FileSystems: those that the runtime uses. Disk: these too, and what containers, logs and volumes take. RecentDisk: the same, for readers that can
 * do with what was measured half a minute ago.
 */
export type StatsPart = 'overview' | 'usage' | 'details' | 'network' | 'fileSystems' | 'recentDisk' | 'disk'

/** The usage of the whole node at one time. Times are milliseconds since the epoch. */
export interface StatsSnapshot {
  readonly time: number
  readonly parts: ReadonlySet<StatsPart>
  readonly node: NodeUsage
  readonly pods: readonly PodUsage[]
  /** What the runtime measures of pods, for scrapers; undefined where the agent measures by itself. */
  readonly runtimeFamilies?: readonly StatsFamily[] | undefined
}

export interface CgroupUsage {
  readonly path: string
  readonly time: number
  readonly sample: CgroupSample
  /** What it used between this snapshot and the one before; undefined at the first. */
  readonly nanoCores: number | undefined
  /** Only read with the details. */
  readonly processes?: ProcessUsage | undefined
}

/** The processes of a cgroup, and what they have open; what could not be counted is undefined. */
export interface ProcessUsage {
  readonly processes: number
  readonly descriptors: number | undefined
  readonly sockets: number | undefined
  /** How many files its first process may open; -1 without a limit. */
  readonly openFilesLimit: number | undefined
}

export interface NodeUsage {
  /** When the machine was started. */
  readonly startedAt: number
  readonly memoryCapacityBytes: number
  readonly swap: { readonly usageBytes: number; readonly capacityBytes: number }
  readonly root: CgroupUsage
  /** Cgroups of the agent, the runtime, the rest of the system, and of all pods together. */
  readonly system: readonly { readonly name: SystemContainer; readonly cgroup: CgroupUsage }[]
  /** Those of the classes of pods. */
  readonly qos: readonly CgroupUsage[]
  readonly interfaces: readonly InterfaceCounters[]
  /** The file system of the agent's root directory. */
  readonly fs: FileSystemUsage & { readonly device: string }
  /** Undefined when the runtime did not report it, or the disk was not measured. */
  readonly imageFs: RuntimeFileSystem | undefined
  /** Where containers write, when the runtime reports it apart from images. */
  readonly containerFs: RuntimeFileSystem | undefined
  readonly processes: { readonly limit: number; readonly count: number }
  /** By their numbers: vda by 253:0. */
  readonly disks: ReadonlyMap<string, DiskCounters>
}

/** A file system that the runtime uses. */
export interface RuntimeFileSystem extends FileSystemUsage {
  readonly mountPoint: string
  readonly device: string
}

export type SystemContainer = 'kubelet' | 'runtime' | 'misc' | 'pods'

export interface PodUsage {
  readonly uid: PodUid
  readonly name: string
  readonly namespace: string
  /** Of its sandbox. */
  readonly createdAt: number
  readonly cgroup: CgroupUsage | undefined
  readonly sandbox: { readonly id: string; readonly cgroup: CgroupUsage | undefined } | undefined
  readonly containers: readonly ContainerUsage[]
  readonly interfaces: readonly InterfaceCounters[] | undefined
  readonly processes: number | undefined
  /** Logs that belong to no container, the hosts file, termination messages, what plugins keep of the pod, and files of its sandboxes. */
  readonly ownFiles: TreeUsage | undefined
  readonly volumes: readonly VolumeUsage[]
}

export interface ContainerUsage {
  /** Its termination messages; they count as files of the pod. */
  readonly messages?: TreeUsage | undefined
  readonly id: string
  readonly name: string
  readonly image: string
  readonly createdAt: number
  readonly startedAt: number
  readonly cgroup: CgroupUsage | undefined
  readonly processes: number | undefined
  /** What it wrote into its own file system. */
  readonly rootfs: (TreeUsage & { readonly time: number }) | undefined
  readonly logs: TreeUsage | undefined
}

export interface VolumeUsage extends Partial<FileSystemUsage> {
  readonly name: string
  readonly time: number
  readonly pvcRef: { readonly namespace: string; readonly name: string } | undefined
  /** It takes room of the node, and goes with its pod. */
  readonly isLocalEphemeral: boolean
  /** What its driver says of its health, where it does. */
  readonly isAbnormal?: boolean | undefined
}
