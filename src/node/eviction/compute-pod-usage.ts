import type { TreeUsage } from '../../system/files/file-usage.ts'
import type { ContainerUsage, PodUsage } from '../stats/stats-snapshot.ts'
import type { DiskPart } from './compute-disk-layout.ts'
import type { StarvedResource } from './observed-signal.ts'

/** What a pod uses of a resource; undefined when it is not known. */
export function computePodUsage(
  stats: PodUsage | undefined,
  { resource, parts }: { readonly resource: StarvedResource; readonly parts: readonly DiskPart[] },
): number | undefined {
  switch (resource) {
    case 'memory':
      // Nothing of it runs.
      return stats === undefined ? 0 : memoryOf(stats)
    case 'pids':
      return stats === undefined ? 0 : (stats.processes ?? 0)
    case 'ephemeral-storage':
      return stats && sum(listTrees(stats, parts).map(({ bytes }) => bytes))
    case 'inodes':
      return stats && sum(listTrees(stats, parts).map(({ inodes }) => inodes))
  }
}

/** What a container holds of a resource; undefined where no container is to blame, or it is not known. */
export function computeContainerUsage(
  { cgroup, rootfs, logs }: Pick<ContainerUsage, 'cgroup' | 'rootfs' | 'logs'>,
  resource: StarvedResource,
): number | undefined {
  switch (resource) {
    case 'memory':
      return cgroup?.sample.memory?.workingSetBytes
    case 'ephemeral-storage':
      return rootfs && logs && rootfs.bytes + logs.bytes
    case 'inodes':
    case 'pids':
      return undefined
  }
}

/** All that a pod takes of the node's disk and gives back when it goes; undefined when the disk was not measured. */
export function computeEphemeralBytes(stats: PodUsage): number | undefined {
  if (stats.ownFiles === undefined) return undefined
  return stats.ownFiles.bytes + sum(listTrees(stats, ['rootfs', 'logs', 'volumes']).map(({ bytes }) => bytes))
}

export function memoryOf({ cgroup, containers }: Pick<PodUsage, 'cgroup' | 'containers'>): number | undefined {
  const whole = cgroup?.sample.memory?.workingSetBytes
  if (whole !== undefined) return whole
  const known = containers.flatMap((container) => container.cgroup?.sample.memory?.workingSetBytes ?? [])
  return known.length === 0 ? undefined : sum(known)
}

function listTrees({ containers, volumes }: PodUsage, parts: readonly DiskPart[]): readonly TreeUsage[] {
  return parts.flatMap((part) => {
    if (part !== 'volumes') return containers.flatMap((container) => container[part] ?? [])
    return volumes
      .filter(({ isLocalEphemeral }) => isLocalEphemeral)
      .map(({ usedBytes: bytes = 0, inodesUsed: inodes = 0 }) => ({ bytes, inodes }))
  })
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
