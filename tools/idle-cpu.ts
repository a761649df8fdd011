import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

// What idles only for a moment is about to go on.
const MEASURED_MS = 1000
// A larger share would be what stays idle in the end: nothing begins below it.
const IDLE_CPUS = 0.25

/** Resolves once a quarter of a CPU of the machine was idle for a second; rejects when the signal aborts. */
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
