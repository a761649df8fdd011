import type { AgentMetrics } from './create-metrics.ts'

// So many counts wait for their metrics; more would cost more than the library does.
const MOST_WAITING = 1000

/**
 * Metrics that are made when they are first asked for, or when much waits to be counted: their library takes a tenth of the time that
 * the whole agent has for its start.
 */
export function deferMetrics(load: () => Promise<AgentMetrics>): AgentMetrics {
  const waiting: ((metrics: AgentMetrics) => void)[] = []
  let made: AgentMetrics | undefined
  let making: Promise<AgentMetrics> | undefined
  const make = async () => {
    const metrics = await load()
    for (const tell of waiting.splice(0)) tell(metrics)
    made = metrics
    return metrics
  }
  const count = (tell: (metrics: AgentMetrics) => void) => {
    if (made !== undefined) return tell(made)
    waiting.push(tell)
    // Whoever asks for the metrics hears of a failure; counting goes on without.
    if (waiting.length >= MOST_WAITING) (making ??= make()).catch(() => {})
  }
  return {
    runtimeOperation: (...call) => count((metrics) => metrics.runtimeOperation(...call)),
    probe: (...run) => count((metrics) => metrics.probe(...run)),
    containerStart: (...start) => count((metrics) => metrics.containerStart(...start)),
    sandboxStart: (failed) => count((metrics) => metrics.sandboxStart(failed)),
    podStart: (seconds) => count((metrics) => metrics.podStart(seconds)),
    storageOperation: (...operation) => count((metrics) => metrics.storageOperation(...operation)),
    volumeFound: (isKnown) => count((metrics) => metrics.volumeFound(isKnown)),
    foreignVolumeCleaned: (failed) => count((metrics) => metrics.foreignVolumeCleaned(failed)),
    orphanVolumes: (...look) => count((metrics) => metrics.orphanVolumes(...look)),
    volumeMeasured: (...measurement) => count((metrics) => metrics.volumeMeasured(...measurement)),
    relist: (seconds) => count((metrics) => metrics.relist(seconds)),
    render: async () => await (await (making ??= make())).render(),
  }
}
