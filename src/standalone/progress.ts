import type { Clock } from '../base/async/clock.ts'

/** Where progress is shown: a terminal, or something that keeps lines. */
interface ProgressOutput {
  readonly isTTY?: boolean
  write(text: string): unknown
}

// Faster is flicker on a terminal, and noise in a log.
const TERMINAL_MS = 100
const LOG_MS = 5000
const CLEAR_LINE = '\r\u001B[K'

/** Shows how far something is: on a terminal in one line, elsewhere as a line now and then. An empty text takes the line away. */
export function createProgress(clock: Pick<Clock, 'monotonic'>, output: ProgressOutput): (text: string) => void {
  const isTerminal = output.isTTY === true
  let isShown = false
  let nextAt = clock.monotonic() + (isTerminal ? 0 : LOG_MS)
  return (text) => {
    if (text === '') {
      if (isShown && isTerminal) output.write(CLEAR_LINE)
      isShown = false
      return
    }
    const now = clock.monotonic()
    if (now < nextAt) return
    nextAt = now + (isTerminal ? TERMINAL_MS : LOG_MS)
    isShown = true
    output.write(isTerminal ? `${CLEAR_LINE}${text}` : `${text}\n`)
  }
}
