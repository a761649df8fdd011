import type { LogParser, LogPiece } from './log-pieces.ts'

const SPACE = 0x20
const NEWLINE = 0x0a
// Time, stream and tags: far less than this in every log that a runtime wrote.
const LONGEST_HEAD = 256
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/
const NOTHING = Buffer.alloc(0)

interface Head {
  readonly time: string
  readonly stream: 'stdout' | 'stderr'
  readonly partial: boolean
  readonly textAt: number
}

/**
 * Reads the format of CRI: "TIME STREAM TAGS TEXT", where the tag P says that the line goes on in the next entry. The text is handed on as it
 * comes, so that a line of any length needs no memory.
 */
export class CriLogParser implements LogParser {
  /** The beginning of an entry whose head is not complete yet. */
  #rest: Buffer = NOTHING
  #state: 'head' | 'text' | 'skip' = 'head'
  #partial = false

  parse(bytes: Buffer): LogPiece[] {
    const input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    this.#rest = NOTHING
    const pieces: LogPiece[] = []
    for (let at = 0; at < input.length;) at = this.#step(input, at, pieces)
    return pieces
  }

  finish(): LogPiece[] {
    this.#rest = NOTHING
    this.#state = 'head'
    return []
  }

  /** Takes one head and the text after it as far as it is there; returns how far it came. */
  #step(input: Buffer, at: number, pieces: LogPiece[]): number {
    const newline = input.indexOf(NEWLINE, at)
    const end = newline === -1 ? input.length : newline
    const next = newline === -1 ? input.length : newline + 1
    let head: Head | undefined
    if (this.#state === 'head') {
      head = parseHead(input, at, end)
      if (head === undefined && newline === -1 && end - at <= LONGEST_HEAD) {
        this.#rest = Buffer.from(input.subarray(at))
        return next
      }
      this.#state = head === undefined ? 'skip' : 'text'
      this.#partial = head?.partial ?? false
    }
    if (this.#state === 'text') {
      const text = input.subarray(head?.textAt ?? at, this.#partial ? end : next)
      pieces.push(head === undefined ? { text } : { head, text })
    }
    if (newline !== -1) this.#state = 'head'
    return next
  }
}

function parseHead(input: Buffer, at: number, end: number): Head | undefined {
  const timeEnd = input.indexOf(SPACE, at)
  const streamEnd = timeEnd === -1 ? -1 : input.indexOf(SPACE, timeEnd + 1)
  const tagsEnd = streamEnd === -1 ? -1 : input.indexOf(SPACE, streamEnd + 1)
  if (tagsEnd === -1 || tagsEnd >= end) return undefined
  const time = input.toString('latin1', at, timeEnd)
  const stream = input.toString('latin1', timeEnd + 1, streamEnd)
  if (!TIME.test(time) || (stream !== 'stdout' && stream !== 'stderr')) return undefined
  const partial = input.toString('latin1', streamEnd + 1, tagsEnd).split(':')[0] === 'P'
  return { time, stream, partial, textAt: tagsEnd + 1 }
}
