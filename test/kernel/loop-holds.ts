import { closeSync, openSync, readSync } from 'node:fs'

const TICK_MS = 20
const NANOSECONDS = 1e6
// Three numbers of at most twenty digits.
const SCHEDSTAT_BYTES = 64

/**
 * Says after each turn of a timer how long this event loop was held up: by code that ran, or by a call that waited. The time in which the
 * thread could have run and the machine had no CPU for it is left out, so that a starved machine is not taken for a blocked loop.
 * The period of the timer is a part of it, and so is what a virtual machine is not run by its host.
 */
export function watchLoop(note: (heldMs: number) => void, tickMs = TICK_MS): Disposable {
  // Of the thread that opens it. In order: time on a CPU, time of waiting for one, in nanoseconds; number of turns.
  const file = openSync('/proc/thread-self/schedstat', 'r')
  const bytes = Buffer.alloc(SCHEDSTAT_BYTES)
  const starvedMs = () =>
    Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, SCHEDSTAT_BYTES, 0)).split(' ')[1]) / NANOSECONDS
  let last = { at: performance.now(), starved: starvedMs() }
  const timer = setInterval(() => {
    const now = { at: performance.now(), starved: starvedMs() }
    note(now.at - last.at - (now.starved - last.starved))
    last = now
  }, tickMs)
  timer.unref()
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      closeSync(file)
    },
  }
}
