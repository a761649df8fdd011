import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** One thing that was done with a volume, by plugin and operation. */
interface StorageOperation {
  readonly plugin: string
  readonly operation: string
  readonly seconds: number
  readonly failed: boolean
  /** It is written as an old kind of volume and was translated for its CSI driver. */
  readonly isMigrated?: boolean | undefined
}

/** What is counted about volumes. */
export interface VolumeMetrics {
  /** One thing that was done with a volume. */
  storageOperation(done: StorageOperation): void
  /** A volume of an earlier agent was found on the disk. Not known: no kind of ours made it. */
  volumeFound(isKnown: boolean): void
  /** A volume that no kind of ours made was to be taken away. */
  foreignVolumeCleaned(failed: boolean): void
  /** The last cleanup of volumes of unknown pods: how many pods lost theirs, and how many could not. */
  orphanVolumes(cleaned: number, failed: number): void
}

/** The number of volumes of a plugin: those that are desired, and those that are mounted. */
export interface VolumeCount {
  readonly plugin: string
  readonly desired: number
  readonly actual: number
}

// As in the Go kubelet, so that its dashboards fit.
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600]

export function createVolumeMetrics(set: MetricSet, counts: () => readonly VolumeCount[]): VolumeMetrics {
  const counter = (name: string, help: string) => set.counter({ name, help })
  const gauge = (name: string, help: string) => set.gauge({ name, help })
  const operations = set.histogram({
    name: 'storage_operation_duration_seconds',
    help: 'How long it takes to mount or unmount a volume.',
    labels: ['volume_plugin', 'operation_name', 'status', 'migrated'],
    buckets: BUCKETS,
  })
  const found = counter('reconstruct_volume_operations_total', 'Volumes of an earlier agent that were found.')
  const unknown = counter(
    'reconstruct_volume_operations_errors_total',
    'Volumes of an earlier agent that were found and that no kind of ours made.',
  )
  const foreign = counter('force_cleaned_failed_volume_operations_total', 'Volumes of no known kind to be removed.')
  const foreignErrors = counter(
    'force_cleaned_failed_volume_operation_errors_total',
    'Volumes of no known kind that could not be removed.',
  )
  const orphans = gauge('kubelet_orphan_pod_cleaned_volumes', 'Unknown pods whose volumes went in the last cleanup.')
  const orphanErrors = gauge('kubelet_orphan_pod_cleaned_volumes_errors', 'Unknown pods whose volumes stayed.')
  addTotals(set, counts)
  return {
    storageOperation({ plugin: volume_plugin, operation: operation_name, seconds, failed, isMigrated }) {
      const status = failed ? 'fail-unknown' : 'success'
      operations.observe({ volume_plugin, operation_name, status, migrated: String(isMigrated === true) }, seconds)
    },
    volumeFound(isKnown) {
      found.inc()
      if (!isKnown) unknown.inc()
    },
    foreignVolumeCleaned(failed) {
      foreign.inc()
      if (failed) foreignErrors.inc()
    },
    orphanVolumes(cleaned, failed) {
      orphans.set(cleaned)
      orphanErrors.set(failed)
    },
  }
}

function addTotals(set: MetricSet, counts: () => readonly VolumeCount[]): void {
  const definition = {
    name: 'volume_manager_total_volumes',
    help: 'Volumes that should be there and volumes that are.',
    labels: ['plugin_name', 'state'] as const,
  }
  set.read(definition, () =>
    counts().flatMap(({ plugin, desired, actual }) => [
      { labels: { plugin_name: plugin, state: 'desired_state_of_world' }, value: desired },
      { labels: { plugin_name: plugin, state: 'actual_state_of_world' }, value: actual },
    ]),
  )
}

/** What a persistent volume claim takes and has left, as far as it is known. */
export interface ClaimUsage {
  readonly namespace: string
  readonly claim: string
  readonly capacityBytes?: number | undefined
  readonly availableBytes?: number | undefined
  readonly usedBytes?: number | undefined
  readonly inodes?: number | undefined
  readonly inodesFree?: number | undefined
  readonly inodesUsed?: number | undefined
  readonly isAbnormal?: boolean | undefined
}

/** What is counted of measurements of volumes. */
export interface ClaimMetrics {
  /** One measurement of a volume: du walks through it, statfs asks its file system, anything else is the CSI driver that was asked. */
  volumeMeasured(source: string, seconds: number): void
}

const GAUGES = [
  { name: 'capacity_bytes', help: 'Size of the volume in bytes.', read: (usage: ClaimUsage) => usage.capacityBytes },
  {
    name: 'available_bytes',
    help: 'Bytes that can still be written.',
    read: (usage: ClaimUsage) => usage.availableBytes,
  },
  { name: 'used_bytes', help: 'Bytes in use.', read: (usage: ClaimUsage) => usage.usedBytes },
  { name: 'inodes', help: 'Inodes of the volume.', read: (usage: ClaimUsage) => usage.inodes },
  { name: 'inodes_free', help: 'Inodes that are free.', read: (usage: ClaimUsage) => usage.inodesFree },
  { name: 'inodes_used', help: 'Inodes in use.', read: (usage: ClaimUsage) => usage.inodesUsed },
  {
    name: 'health_status_abnormal',
    help: 'Whether the driver of the volume says that something is wrong with it.',
    read: ({ isAbnormal }: ClaimUsage) => (isAbnormal === undefined ? undefined : Number(isAbnormal)),
  },
]

/** The usage of claims, read at each scrape, and how long measuring takes. */
export function addClaimMetrics(set: MetricSet, claimUsages: () => readonly ClaimUsage[]): ClaimMetrics {
  for (const { name, help, read } of GAUGES) {
    const labels = ['namespace', 'persistentvolumeclaim'] as const
    set.read({ name: `kubelet_volume_stats_${name}`, help, labels }, () =>
      claimUsages().flatMap((usage) => {
        const value = read(usage)
        if (value === undefined) return []
        return [{ labels: { namespace: usage.namespace, persistentvolumeclaim: usage.claim }, value }]
      }),
    )
  }
  const durations = set.histogram({
    name: 'kubelet_volume_metric_collection_duration_seconds',
    help: 'How long measuring a volume takes, by the way it is done.',
    labels: ['metric_source'],
  })
  return { volumeMeasured: (source, seconds) => durations.observe({ metric_source: source }, seconds) }
}
