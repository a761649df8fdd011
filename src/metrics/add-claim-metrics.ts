import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What a persistent volume claim takes and has left, as far as anybody says. */
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

/** The usage of claims, read when somebody asks, and how long measuring takes. */
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
