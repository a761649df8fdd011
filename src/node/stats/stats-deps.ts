import type { Clock } from '../../base/async/clock.ts'
import type { CriCalls } from '../../protocols/cri/cri-calls.ts'
import type { CgroupReader } from '../../system/cgroups/cgroup-reader.ts'
import type { FileSystemUsage } from '../../system/files/file-usage.ts'
import type { StatsFiles } from '../../system/directories/stats-files.ts'
import type { TerminationLogs } from '../../system/directories/logs/termination-logs.ts'
import type { CgroupLayout } from '../../model/resources/cgroup-names.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { RuntimeStats } from './runtime/runtime-stats.ts'
import type { SystemContainer } from './stats-snapshot.ts'

/** What a volume took when it was last measured. */
export interface MeasuredVolume extends Partial<FileSystemUsage> {
  readonly volume: {
    readonly uid: PodUid
    readonly name: string
    readonly pvcRef: { readonly namespace: string; readonly name: string } | undefined
    readonly isLocalEphemeral: boolean
  }
  readonly time: number
  readonly isAbnormal?: boolean | undefined
}

export interface StatsDeps {
  readonly observed: { uids(): readonly PodUid[]; get(uid: PodUid): ObservedPod | undefined }
  readonly calls: Pick<CriCalls, 'listContainerStats' | 'imageFsInfo' | 'podSandboxStatus' | 'containerStatus'>
  readonly cgroups: CgroupReader
  readonly layout: CgroupLayout
  readonly files: StatsFiles
  /** Empties termination logs by itself, and knows what they had; undefined where none is watched. */
  readonly terminationLogs?: Pick<TerminationLogs, 'takeEmptied'> | undefined
  /** Set where a file system of its own for what containers write is not looked for; called when there is one. Parity: the gate KubeletSeparateDiskGC. */
  readonly onSplitDisk?: (() => void) | undefined
  /** Asked for what pods use, in place of their cgroups; undefined where that is not wanted. */
  readonly runtimeStats?: RuntimeStats | undefined
  /** Whether to read how long tasks waited. */
  readonly pressure: boolean
  readonly volumes: () => readonly MeasuredVolume[]
  /** Cgroups of the node's own programs, where they have one. */
  readonly systemCgroups: Readonly<Partial<Record<Exclude<SystemContainer, 'pods'>, string>>>
  readonly machine: { readonly memoryBytes: bigint; readonly swapBytes: bigint }
  readonly rootDirectory: string
  readonly podLogsDirectory: string
  /** How old a snapshot may be, and how often one is taken while clients ask. */
  readonly intervalMs: number
  readonly clock: Clock
  readonly log: Logger
}
