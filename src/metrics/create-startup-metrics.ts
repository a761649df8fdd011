import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is timed of the way of a new node into its cluster. */
export interface StartupMetrics {
  nodeStartup(step: keyof typeof STEPS, seconds: number): void
}

const STEPS = {
  pre_kubelet: ['pre_kubelet_', 'From the start of the machine to that of the agent.'],
  pre_registration: ['pre_registration_', 'From the start of the agent to its first try to make the Node object.'],
  registration: ['registration_', 'From the first try to make the Node object until it was there.'],
  post_registration: ['post_registration_', 'From the making of the Node object until it was ready.'],
  whole: ['', 'From the start of the machine until the node was ready.'],
} as const

export function createStartupMetrics(set: MetricSet): StartupMetrics {
  const toGauge = ([part, help]: readonly [string, string]) =>
    set.gauge({ name: `kubelet_node_startup_${part}duration_seconds`, help })
  const gauges = new Map(Object.entries(STEPS).map(([step, names]) => [step, toGauge(names)]))
  return { nodeStartup: (step, seconds) => gauges.get(step)?.set(seconds) }
}
