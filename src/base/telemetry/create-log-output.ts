import type { Clock } from '../async/clock.ts'

export type LogLevel = 'error' | 'warn' | 'info' | 'debug'

export interface LogOutputOptions {
  /** Errors and warnings to one stream, the rest to the other; else all to that of errors. */
  readonly split: boolean
  /** So many bytes of what is neither error nor warning are held back; 0 writes each line at once. */
  readonly bufferBytes: number
  /** Nothing is held back for longer. */
  readonly flushMs: number
  readonly writeInfo: (text: string) => void
  readonly writeError: (text: string) => void
  readonly clock: Clock
}

/** Where lines of the log go. */
export interface LogOutput {
  write(line: string, level: LogLevel): void
  /** Writes what is held back. Before the process ends. */
  flush(): void
}

/** As the Go kubelet's logging options have it: only split streams are buffered, and only the one of what is no error. */
export function createLogOutput(options: LogOutputOptions): LogOutput {
  const { split, bufferBytes, flushMs, writeInfo, writeError, clock } = options
  const whole = new AbortController()
  let held: string[] = []
  let heldBytes = 0
  let isWaiting = false
  const flush = () => {
    if (held.length > 0) writeInfo(held.join(''))
    held = []
    heldBytes = 0
  }
  const flushLater = async () => {
    if (isWaiting) return
    isWaiting = true
    await clock.sleep(flushMs, whole.signal)
    isWaiting = false
    flush()
  }
  const hold = (line: string) => {
    const bytes = Buffer.byteLength(line)
    // A line is never cut.
    if (heldBytes + bytes > bufferBytes) flush()
    if (bytes > bufferBytes) return writeInfo(line)
    held.push(line)
    heldBytes += bytes
    void flushLater()
  }
  return {
    write(line, level) {
      if (!split || level === 'error' || level === 'warn') writeError(line)
      else if (bufferBytes > 0) hold(line)
      else writeInfo(line)
    },
    flush,
  }
}
