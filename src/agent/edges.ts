import type { TurnstileOptions } from '../base/async/turnstile.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import type { Tracer } from '../base/telemetry/tracer.ts'
import type { DeferredMetrics } from '../metrics/defer-metrics.ts'
import type { CpuPlace } from '../model/resources/cpu-place.ts'
import type { CreateCgroupsDeps, NodeCgroups } from '../node/cgroups/create-cgroups.ts'
import type { NodeProfile } from '../node/registration/status/node-profile.ts'
import type { LogindAccess } from '../node/shutdown/create-logind-access.ts'
import type { StateFile } from '../system/files/state/state-file.ts'
import type { VolumeHost, VolumeHostDeps } from '../pods/volumes/create-volume-host.ts'
import type { CriClient } from '../protocols/cri/cri-client.ts'
import type { Tracing } from '../protocols/tracing/create-tracing.ts'
import type { CgroupReader } from '../system/cgroups/cgroup-reader.ts'
import type { StatsFiles } from '../system/directories/stats-files.ts'
import type { KernelLog } from '../system/machine/kernel-log.ts'
import type { PodNetwork } from '../pods/probes/pod-network.ts'
import type { ManifestCopies, ReportSetAside } from '../system/directories/last-good-manifests.ts'
import type { CsiFiles } from '../system/directories/csi-files.ts'
import type { createPodFiles } from '../system/directories/pod-files.ts'
import type { createUserNamespaceRecords } from '../system/directories/user-namespace-records.ts'
import type { FileSystemSpace } from '../system/files/file-system-space.ts'
import type { readIfPresent } from '../system/files/read-bounded-file.ts'
import type { createRecordFolder } from '../system/files/state/create-record-folder.ts'
import type { GuardedFiles } from '../system/guarded/guarded-files.ts'
import type { Hugepages } from '../system/machine/hardware/read-hugepages.ts'
import type { KernelInfo } from '../system/machine/read-kernel.ts'
import type { AddressReport } from '../system/machine/read-node-address.ts'
import type { Mounter } from '../system/mounts/mounter.ts'
import type { NodeIdentity } from '../system/machine/read-node-identity.ts'
import type { NumaNode } from '../system/machine/hardware/read-numa-nodes.ts'
import type { SubordinateIds } from '../system/machine/read-subordinate-ids.ts'
import type { findShims } from '../system/processes/find-shims.ts'
import type { ProcessIdentity } from '../system/processes/process-identity.ts'
import type { RuntimeClientOptions } from '../protocols/runtime/connect-runtime.ts'
import type { Cluster } from './cluster/join-cluster.ts'
import type { Membership } from './cluster/membership.ts'

/** The machine that the agent runs on, as far as it is touched before the loops run. */
export interface Host {
  readonly bootedAt: number | undefined
  /** How many pods may start at the same time. */
  readonly parallelStarts: Pick<TurnstileOptions, 'places' | 'adapt'>
  /** How the agent reaches what runs in pods. */
  readonly podNetwork: PodNetwork
  /** Where usage is measured. */
  readonly statsFiles: StatsFiles
  kernel(): KernelInfo
  identity(): NodeIdentity
  hugepages(): readonly Hugepages[]
  numaNodes(): readonly NumaNode[]
  cpuPlaces(): readonly CpuPlace[]
  cgroupReader(): CgroupReader
  /** Fails where the log may not be read. */
  openKernelLog(): KernelLog
  readAddress(profile: NodeProfile): Promise<AddressReport>
  readSpace(path: string): Promise<FileSystemSpace>
  /** The ids that pods may have in user namespaces; undefined where none are set aside. */
  readSubordinateIds(signal: AbortSignal): Promise<SubordinateIds | undefined>
  /** Makes the root directory, and returns its path without symbolic links. */
  prepareRoot(path: string, podLogsDirectory: string): Promise<string>
  /** A seccomp profile for sandboxes; undefined where the node has none. */
  findSandboxProfile(rootDirectory: string): Promise<string | undefined>
  /** Fails when nothing can be written in the folder. */
  checkWritable(folder: string): Promise<void>
  /** Lets containers see what is mounted below later. */
  makeShared(path: string, signal: AbortSignal): Promise<void>
  openGuardedFiles(signal: AbortSignal): GuardedFiles & Disposable
  readIfPresent: typeof readIfPresent
  stateFile(path: string): StateFile
  recordFolder(path: string): ReturnType<typeof createRecordFolder>
  /** Copies of manifests in a folder, as they were when last good. */
  lastGoodManifests(folder: string, report?: ReportSetAside): ManifestCopies
  podFiles(rootDirectory: string): ReturnType<typeof createPodFiles>
  /** The agent's own files around the volumes of CSI drivers. */
  csiFiles(rootDirectory: string): CsiFiles
  userNamespaceRecords(rootDirectory: string): ReturnType<typeof createUserNamespaceRecords>
  /** The shims of the containerd at a socket, in one of its namespaces. */
  findShims: typeof findShims
  /** SIGKILL, to exactly this process; false when it is gone. */
  killProcess(process: ProcessIdentity): Promise<boolean>
  /** Announces and delays shutdowns of the machine. */
  openLogind(): Promise<LogindAccess>
  /** Mounts, with a program for file systems of other machines where one is given. */
  openMounter(options?: { readonly remoteHelper: string }): Mounter
  openCgroups(deps: CreateCgroupsDeps, signal: AbortSignal): Promise<NodeCgroups>
  openVolumes(deps: VolumeHostDeps): VolumeHost
}

/** The cluster that the node belongs to, if any, and what pods get from it. */
interface Joined {
  readonly cluster: Cluster | undefined
  readonly membership: Membership
}

/** Everything outside the agent that it is built on. Component tests put fakes here, and nowhere else. */
export interface Edges {
  readonly host: Host
  readonly metrics: DeferredMetrics
  connectRuntime(options: RuntimeClientOptions, signal: AbortSignal): Promise<CriClient>
  /** Undefined: nothing is traced. */
  openTracing(): Promise<Tracing | undefined>
  join(tracer: Tracer | undefined, tasks: TaskGroup): Promise<Joined>
}
