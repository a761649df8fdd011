import type { FileSystemUsage, TreeUsage } from '../../../system/files/file-usage.ts'
import { computeNetworkStats, computeUsageStats } from '../compute-usage-stats.ts'
import type { ContainerUsage, NodeUsage, PodUsage, StatsSnapshot, VolumeUsage } from '../stats-snapshot.ts'
import type { ContainerStats, FsStats, NodeStats, PodStats, Summary, VolumeStats } from './summary-types.ts'
import { toApiTime } from '../../../model/text/api-time.ts'

/** What the parts of a summary go by. */
interface Context {
  readonly snapshot: StatsSnapshot
  readonly onlyCpuAndMemory: boolean
}

/** The answer of /stats/summary. */
export function computeSummary(
  snapshot: StatsSnapshot,
  options: { readonly nodeName: string; readonly onlyCpuAndMemory: boolean },
): Summary {
  const context = { snapshot, onlyCpuAndMemory: options.onlyCpuAndMemory }
  return {
    node: computeNodeStats(context, options.nodeName),
    pods: snapshot.pods.map((pod) => computePodStats(context, pod)),
  }
}

function computeNodeStats({ snapshot, onlyCpuAndMemory }: Context, nodeName: string): NodeStats {
  const { node } = snapshot
  const time = toApiTime(snapshot.time)
  const { cpu, memory, io } = computeUsageStats(node.root, !onlyCpuAndMemory)
  const imageFs = node.imageFs === undefined ? undefined : toFs(node.imageFs, time)
  return {
    nodeName,
    systemContainers: node.system.map((system) => ({
      name: system.name,
      startTime: toApiTime(node.startedAt),
      ...computeUsageStats(system.cgroup, !onlyCpuAndMemory),
    })),
    startTime: toApiTime(node.startedAt),
    ...withCapacity({ cpu, memory, io }, node),
    swap: {
      time,
      swapAvailableBytes: node.swap.capacityBytes - node.swap.usageBytes,
      swapUsageBytes: node.swap.usageBytes,
    },
    ...(onlyCpuAndMemory
      ? {}
      : {
          network: computeNetworkStats(node.interfaces, time),
          fs: toFs(node.fs, time),
          runtime: {
            imageFs,
            containerFs: node.containerFs === undefined ? imageFs : toFs(node.containerFs, time),
          },
          rlimit: { time, maxpid: node.processes.limit, curproc: node.processes.count },
        }),
  }
}

/** The root cgroup has no limit of its own: the machine is. */
function withCapacity<T extends Pick<ContainerStats, 'memory'>>(usage: T, { memoryCapacityBytes }: NodeUsage): T {
  const { memory } = usage
  if (memory === undefined || memory.availableBytes !== undefined) return usage
  const availableBytes = Math.max(0, memoryCapacityBytes - (memory.workingSetBytes ?? 0))
  const { time, ...rest } = memory
  return { ...usage, memory: { time, ...rest, availableBytes } }
}

function computePodStats(context: Context, pod: PodUsage): PodStats {
  const { snapshot, onlyCpuAndMemory } = context
  const time = toApiTime(snapshot.time)
  const volumes = [...pod.volumes].sort((a, b) => Number(b.isLocalEphemeral) - Number(a.isLocalEphemeral))
  return {
    podRef: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
    startTime: toApiTime(pod.createdAt),
    containers: pod.containers.map((container) => computeContainerStats(context, container)),
    ...computeUsageStats(pod.cgroup, !onlyCpuAndMemory),
    ...(onlyCpuAndMemory
      ? {}
      : {
          network: computeNetworkStats(pod.interfaces, time),
          volume: volumes.length === 0 ? undefined : volumes.map(toVolume),
          'ephemeral-storage': computeEphemeralStorage(snapshot.node, pod, time),
          process_stats: pod.processes === undefined ? undefined : { process_count: pod.processes },
        }),
  }
}

function computeContainerStats({ snapshot, onlyCpuAndMemory }: Context, container: ContainerUsage): ContainerStats {
  const { rootfs, logs } = container
  const { imageFs, fs } = snapshot.node
  return {
    name: container.name,
    startTime: toApiTime(container.createdAt),
    ...computeUsageStats(container.cgroup, !onlyCpuAndMemory),
    ...(onlyCpuAndMemory
      ? {}
      : {
          rootfs: rootfs === undefined ? undefined : toFs(withUsage(imageFs, rootfs), toApiTime(rootfs.time)),
          logs: logs === undefined ? undefined : toFs(withUsage(fs, logs), toApiTime(snapshot.time)),
        }),
  }
}

/** What a pod takes of the node and gives back when it goes. */
function computeEphemeralStorage(node: NodeUsage, pod: PodUsage, time: string): FsStats | undefined {
  if (pod.ownFiles === undefined) return undefined
  const volumes = pod.volumes.filter(({ isLocalEphemeral }) => isLocalEphemeral)
  const parts: readonly TreeUsage[] = [
    pod.ownFiles,
    ...pod.containers.flatMap(({ rootfs, logs }) => [rootfs, logs].filter((part) => part !== undefined)),
    ...volumes.map(({ usedBytes: bytes = 0, inodesUsed: inodes = 0 }) => ({ bytes, inodes })),
  ]
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  const inodes = parts.reduce((sum, part) => sum + part.inodes, 0)
  return toFs(withUsage(node.fs, { bytes, inodes }), time)
}

function withUsage(whole: FileSystemUsage | undefined, { bytes, inodes }: TreeUsage): Partial<FileSystemUsage> {
  return { ...whole, usedBytes: bytes, inodesUsed: inodes }
}

function toFs(usage: Partial<FileSystemUsage>, time: string): FsStats {
  const { availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed } = usage
  return {
    time,
    ...(availableBytes === undefined ? {} : { availableBytes }),
    ...(capacityBytes === undefined ? {} : { capacityBytes }),
    ...(usedBytes === undefined ? {} : { usedBytes }),
    ...(inodesFree === undefined ? {} : { inodesFree }),
    ...(inodes === undefined ? {} : { inodes }),
    ...(inodesUsed === undefined ? {} : { inodesUsed }),
  }
}

function toVolume(volume: VolumeUsage): VolumeStats {
  const { name, time, pvcRef, isAbnormal } = volume
  return {
    ...toFs(volume, toApiTime(time)),
    name,
    pvcRef: pvcRef === undefined ? undefined : { name: pvcRef.name, namespace: pvcRef.namespace },
    ...(isAbnormal === undefined ? {} : { volumeHealthStats: { abnormal: isAbnormal } }),
  }
}
