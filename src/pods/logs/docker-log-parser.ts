import type { LogParser, LogPiece } from './log-pieces.ts'
import { parseDockerEntry } from './parse-docker-entry.ts'

const NEWLINE = 0x0a
// Docker cuts what is longer than 16 KiB, and a byte becomes at most six in JSON.
const LONGEST_LINE = 1024 * 1024
const NOTHING = Buffer.alloc(0)

/** Reads Docker's own format: a line of JSON for each entry. */
export class DockerLogParser implements LogParser {
  #rest: Buffer = NOTHING
  #skipping = false

  parse(bytes: Buffer): LogPiece[] {
    const input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const pieces: LogPiece[] = []
    let at = 0
    for (let end = input.indexOf(NEWLINE); end !== -1; end = input.indexOf(NEWLINE, at)) {
      if (!this.#skipping) pieces.push(...parseEntry(input.toString('utf8', at, end)))
      this.#skipping = false
      at = end + 1
    }
    this.#skipping ||= input.length - at > LONGEST_LINE
    this.#rest = this.#skipping ? NOTHING : Buffer.from(input.subarray(at))
    return pieces
  }

  finish(): LogPiece[] {
    const pieces = this.#skipping ? [] : parseEntry(this.#rest.toString('utf8'))
    this.#rest = NOTHING
    this.#skipping = false
    return pieces
  }
}

function parseEntry(line: string): LogPiece[] {
  const entry = parseDockerEntry(line)
  if (entry === undefined) return []
  const { log, stream, time } = entry
  return [{ head: { time, stream }, text: Buffer.from(log) }]
}
