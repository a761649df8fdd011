import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { LoopDelay } from './process-metrics.ts'

// Each reading wakes the process: twenty a second were almost half of what an agent without pods costs.
const RESOLUTION_MS = 200
const NANOSECONDS = 1e9

/** Measures from now on how late the event loop is. */
export function measureLoopDelay(): LoopDelay {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  return {
    percentile: (percent) =>
      Math.max(0, (percent === 100 ? delay.max : delay.percentile(percent)) / NANOSECONDS - RESOLUTION_MS / 1000),
  }
}
