import type { LogPiece } from './log-pieces.ts'
import { formatLogTime, isBefore, parseLogTime } from './log-time.ts'
import type { LogTime } from './log-time.ts'

/** Which part of a log is wanted, and how. */
export interface LogFormat {
  readonly stream: 'all' | 'stdout' | 'stderr'
  /** Entries older than this are left out. */
  readonly since?: LogTime | undefined
  /** Each line begins with its time. */
  readonly timestamps: boolean
  /** Of all that is put out, times included. */
  readonly limitBytes?: number | undefined
}

const NEWLINE = 0x0a

/** Turns pieces of a log into what the reader gets. */
export class LogFormatter {
  readonly #format: LogFormat
  #wanted = false
  #atLineStart = true
  #leftBytes: number

  constructor(format: LogFormat) {
    this.#format = format
    this.#leftBytes = format.limitBytes ?? Infinity
  }

  /** True when the reader has all that he may get. */
  get full(): boolean {
    return this.#leftBytes <= 0
  }

  /** The result shares no memory with the pieces. */
  format(pieces: readonly LogPiece[]): Buffer {
    const parts: Uint8Array[] = []
    for (const { head, text } of pieces) {
      if (head !== undefined) {
        this.#wanted = this.#isWanted(head)
        if (this.#wanted && this.#format.timestamps && this.#atLineStart)
          parts.push(Buffer.from(`${prefixOf(head.time)} `))
      }
      if (this.#wanted) parts.push(text)
      if (text.length > 0) this.#atLineStart = text.at(-1) === NEWLINE
    }
    const all = Buffer.concat(parts)
    const allowed = all.length > this.#leftBytes ? all.subarray(0, this.#leftBytes) : all
    this.#leftBytes -= allowed.length
    return allowed
  }

  #isWanted({ time, stream }: { readonly time: string; readonly stream: string }): boolean {
    const { since } = this.#format
    if (this.#format.stream !== 'all' && this.#format.stream !== stream) return false
    if (since === undefined) return true
    const at = parseLogTime(time)
    return at !== undefined && !isBefore(at, since)
  }
}

/** An odd time is shown as it is: the line itself may matter. */
function prefixOf(time: string): string {
  return formatLogTime(time) ?? time
}
