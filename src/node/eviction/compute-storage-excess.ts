import { computePodLimits } from '../../model/resources/compute-pod-requests.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { formatQuantity, parseQuantity, quantityValue } from '../../model/resources/quantity.ts'
import type { PodUsage } from '../stats/stats-snapshot.ts'
import type { DiskLayout } from './compute-disk-layout.ts'
import { computeEphemeralBytes } from './compute-pod-usage.ts'

/** A limit of the local disk that a pod has broken. */
export interface StorageExcess {
  /** As metrics name it. */
  readonly signal: 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit'
  readonly message: string
}

const RESOURCE = 'ephemeral-storage'

/** Whether a pod takes more of the disk than it may: in a volume, as a whole, or in a container. */
export function computeStorageExcess(pod: Pod, stats: PodUsage, layout: DiskLayout): StorageExcess | undefined {
  return ofVolumes(pod, stats) ?? ofPod(pod, stats) ?? ofContainers(pod, stats, layout)
}

/** Does the spec set a limit that can be exceeded? Otherwise nothing has to be measured. */
export function hasStorageLimits({ spec }: Pod): boolean {
  return (
    (spec.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined) ||
    [...spec.containers, ...(spec.initContainers ?? [])].some(({ resources }) => resources?.limits?.[RESOURCE])
  )
}

function ofVolumes({ spec }: Pod, { volumes }: PodUsage): StorageExcess | undefined {
  for (const { name, emptyDir } of spec.volumes ?? []) {
    const { sizeLimit } = emptyDir ?? {}
    const used = volumes.find((volume) => volume.name === name)?.usedBytes
    if (sizeLimit === undefined || used === undefined) continue
    const limit = parseQuantity(sizeLimit)
    if (limit.nanos <= 0n || BigInt(used) <= quantityValue(limit)) continue
    const message = `Usage of EmptyDir volume "${name}" exceeds the limit "${formatQuantity(limit)}". `
    return { signal: 'emptydirfs.limit', message }
  }
  return undefined
}

function ofPod(pod: Pod, stats: PodUsage): StorageExcess | undefined {
  const limit = computePodLimits(pod, { overhead: true }).get(RESOURCE)
  const used = computeEphemeralBytes(stats)
  if (limit === undefined || used === undefined || BigInt(used) <= quantityValue(limit)) return undefined
  const message = `Pod ephemeral local storage usage exceeds the total limit of containers ${formatQuantity(limit)}. `
  return { signal: 'ephemeralpodfs.limit', message }
}

/** What a container writes to its own file system is not on the node's when images have their own. */
function ofContainers({ spec }: Pod, stats: PodUsage, layout: DiskLayout): StorageExcess | undefined {
  for (const { name, logs, messages, rootfs } of stats.containers) {
    const text = spec.containers.find((container) => container.name === name)?.resources?.limits?.[RESOURCE]
    if (text === undefined) continue
    const limit = parseQuantity(text)
    const used = (logs?.bytes ?? 0) + (messages?.bytes ?? 0) + (layout === 'shared' ? (rootfs?.bytes ?? 0) : 0)
    if (limit.nanos === 0n || BigInt(used) <= quantityValue(limit)) continue
    const message = `Container ${name} exceeded its local ephemeral storage limit "${formatQuantity(limit)}". `
    return { signal: 'ephemeralcontainerfs.limit', message }
  }
  return undefined
}
