import { AGENT_COUNTS } from './agent-counts.ts'
import type { AgentCounts } from './agent-counts.ts'
import type { AgentMetrics } from './create-metrics.ts'

// So many counts wait for their metrics; more would cost more than the library does.
const MOST_WAITING = 1000

/** Counts from the start on; the metrics themselves come later. */
export interface DeferredMetrics extends AgentMetrics {
  /** Says how the metrics are made: everything that they read is there now. */
  connect(load: () => Promise<AgentMetrics>): void
}

/**
 * Metrics that are made when they are first asked for, or when much waits to be counted: their library takes a tenth of the time that
 * the whole agent has for its start.
 */
export function deferMetrics(): DeferredMetrics {
  const connected = Promise.withResolvers<() => Promise<AgentMetrics>>()
  const waiting: ((metrics: AgentMetrics) => void)[] = []
  let made: AgentMetrics | undefined
  let making: Promise<AgentMetrics> | undefined
  const make = async () => {
    const load = await connected.promise
    const metrics = await load()
    for (const report of waiting.splice(0)) report(metrics)
    made = metrics
    return metrics
  }
  const count = (report: (metrics: AgentMetrics) => void) => {
    if (made !== undefined) return report(made)
    waiting.push(report)
    // A scraper gets the failure; counting goes on without.
    if (waiting.length >= MOST_WAITING) (making ??= make()).catch(() => {})
  }
  const counts = Object.keys(AGENT_COUNTS).map((name) => [
    name,
    (...call: unknown[]) =>
      count((metrics) => (metrics[name as keyof AgentCounts] as (...call: unknown[]) => void)(...call)),
  ])
  const ready = async () => await (making ??= make())
  return {
    connect: (load) => connected.resolve(load),
    ...(Object.fromEntries(counts) as AgentCounts),
    render: async (format) => await (await ready()).render(format),
    renderProbes: async (format) => await (await ready()).renderProbes(format),
    renderHealth: async (format) => await (await ready()).renderHealth(format),
  }
}
