import { Gauge, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

/** What a persistent volume claim takes and has left. */
export interface ClaimUsage {
  readonly namespace: string
  readonly claim: string
  readonly capacityBytes: number
  readonly availableBytes: number
  readonly usedBytes: number
  readonly inodes: number
  readonly inodesFree: number
  readonly inodesUsed: number
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
]

/** The usage of claims, read when somebody asks. Gives back the function that is told how long measuring a volume took. */
export function addClaimMetrics(
  registers: Registry[],
  claimUsages: () => readonly ClaimUsage[],
): (source: string, seconds: number) => void {
  for (const { name, help, read } of GAUGES) {
    const metric: Gauge<'namespace' | 'persistentvolumeclaim'> = new Gauge({
      name: `kubelet_volume_stats_${name}`,
      help,
      labelNames: ['namespace', 'persistentvolumeclaim'],
      registers,
      collect() {
        // A claim that is gone has no value any more.
        metric.reset()
        for (const usage of claimUsages())
          metric.set({ namespace: usage.namespace, persistentvolumeclaim: usage.claim }, read(usage))
      },
    })
  }
  const durations = new Histogram({
    name: 'kubelet_volume_metric_collection_duration_seconds',
    help: 'How long measuring a volume takes, by the way it is done.',
    labelNames: ['metric_source'],
    registers,
  })
  return (source, seconds) => durations.observe({ metric_source: source }, seconds)
}
