import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { systemClock } from '../../base/async/clock.ts'

// An ordinary collection leaves pages half full, and keeps empty ones for ten seconds: twice of what is in use.
const THOROUGH = { type: 'major', execution: 'sync', flavor: 'last-resort' }

let collect: ((options: typeof THOROUGH) => void) | undefined

/**
 * Collects all garbage of this process now and gives its pages back; says how many milliseconds that took. V8 is asked for its collector at the first use: as a
 * flag of the command line it would make Node compile its own code again at every start, which takes 40 ms.
 */
export function collectGarbage(): number {
  const startedAt = systemClock.monotonic()
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as (options: typeof THOROUGH) => void
    // V8 takes no compiled code from a process with other flags: all that is loaded later would be compiled at each start.
    setFlagsFromString('--no-expose-gc')
  }
  collect(THOROUGH)
  return systemClock.monotonic() - startedAt
}
