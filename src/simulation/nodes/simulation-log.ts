import type { Clock } from '../../base/async/clock.ts'
import { createLogger } from '../../base/telemetry/create-logger.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

// A thousand nodes meet the same trouble at the same time.
const MOST_ALIKE = 3

/** The log of all nodes: only errors, and of those that are alike the first few. The logs of a thousand agents have no reader. */
export function createSimulationLog(deps: {
  readonly clock: Clock
  readonly pid: number
  readonly write: (line: string) => void
}): Logger {
  const seen = new Map<string, number>()
  const isShown = (message: string) => {
    const count = (seen.get(message) ?? 0) + 1
    seen.set(message, count)
    return count <= MOST_ALIKE
  }
  const { clock, pid, write } = deps
  const log = createLogger({ format: 'text', verbosity: 0, program: 'simulate', clock, pid, write })
  return limit(log, isShown)
}

function limit(log: Logger, isShown: (message: string) => boolean): Logger {
  return {
    error: (message, fields) => {
      if (isShown(message)) log.error(message, fields)
    },
    warn() {},
    info() {},
    debug() {},
    child: (fields) => limit(log.child(fields), isShown),
  }
}
