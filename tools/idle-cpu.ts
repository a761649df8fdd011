import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

// What idles only for a moment is about to go on.
const MEASURED_MS = 2000
const IDLE_CPUS = 0.5

/** Resolves once half a CPU of the machine was idle for two seconds; rejects when the signal aborts. */
export async function waitForIdleCpu(signal: AbortSignal): Promise<void> {
  for (let before = readIdleMs(); ;) {
    const started = performance.now()
    await sleep(MEASURED_MS, undefined, { signal })
    const now = readIdleMs()
    if ((now - before) / (performance.now() - started) >= IDLE_CPUS) return
    before = now
  }
}

/** How long the CPUs have been idle since the machine was started, all of them together. */
function readIdleMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0)
}
