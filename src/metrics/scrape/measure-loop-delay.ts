import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { LoopDelay } from '../process-metrics.ts'

const NANOSECONDS = 1e9

/** Measures from now on how long each turn of the event loop keeps the others waiting. A timer for it would wake a process that has nothing to do. */
export function measureLoopDelay(): LoopDelay {
  const delay = monitorEventLoopDelay({ samplePerIteration: true })
  delay.enable()
  return { percentile: (percent) => (percent === 100 ? delay.max : delay.percentile(percent)) / NANOSECONDS }
}
