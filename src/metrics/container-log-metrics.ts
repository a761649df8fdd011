import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What the log files of a container take. */
export interface LogUsage {
  readonly uid: string
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly bytes: number
}

/** The size of logs, as they were measured last, which is when stats of disks were read. */
export function addLogMetrics(set: MetricSet, logUsages: () => readonly LogUsage[]): void {
  set.read(
    {
      name: 'kubelet_container_log_filesystem_used_bytes',
      help: 'What the log files of containers take.',
      labels: ['container', 'namespace', 'pod', 'uid'],
    },
    () => logUsages().map(({ bytes, ...labels }) => ({ labels, value: bytes })),
  )
}
