import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is counted about volumes. */
export interface VolumeMetrics {
  /** One thing that was done with a volume, by plugin and operation. */
  storageOperation(plugin: string, operation: string, seconds: number, failed: boolean): void
  /** A volume of an earlier agent was found on the disk. Not known: no kind of ours made it. */
  volumeFound(isKnown: boolean): void
  /** A volume that no kind of ours made was to be taken away. */
  foreignVolumeCleaned(failed: boolean): void
  /** The last look for volumes of pods that nobody knows: how many pods lost theirs, and how many could not. */
  orphanVolumes(cleaned: number, failed: number): void
}

/** How many volumes of a plugin there should be and are. */
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
  const orphans = gauge('kubelet_orphan_pod_cleaned_volumes', 'Unknown pods whose volumes went in the last look.')
  const orphanErrors = gauge('kubelet_orphan_pod_cleaned_volumes_errors', 'Unknown pods whose volumes stayed.')
  addTotals(set, counts)
  return {
    storageOperation(volume_plugin, operation_name, seconds, failed) {
      const status = failed ? 'fail-unknown' : 'success'
      operations.observe({ volume_plugin, operation_name, status, migrated: 'false' }, seconds)
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
