import { CriLogParser } from './cri-log-parser.ts'
import { DockerLogParser } from './docker-log-parser.ts'
import type { LogFormatter } from './log-formatter.ts'
import type { LogParser } from './log-pieces.ts'
import type { SeriesFile } from './log-series.ts'
import { readLogFile, readNewBytes } from './read-log-file.ts'

const OPENING_BRACE = 0x7b

/** A place in one file of a log, from which reading goes on whenever there is more. Owns the file. */
export class LogCursor implements AsyncDisposable {
  readonly file: SeriesFile
  #position: number
  #parser: LogParser | undefined

  constructor(file: SeriesFile, position: number) {
    this.file = file
    this.#position = position
  }

  /** How far it has read. */
  get position(): number {
    return this.#position
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.file.file[Symbol.asyncDispose]()
  }

  /** Reads on to the end, or to a position. */
  async *read(formatter: LogFormatter, to: number, signal: AbortSignal): AsyncGenerator<Buffer, void> {
    yield* this.#read(formatter, readLogFile(this.file, { from: this.#position, to }), signal)
  }

  /** Reads what has come; what comes meanwhile may be left for the next time. */
  async *readNew(formatter: LogFormatter, signal: AbortSignal): AsyncGenerator<Buffer, void> {
    yield* this.#read(formatter, readNewBytes(this.file, this.#position), signal)
  }

  async *#read(
    formatter: LogFormatter,
    chunks: AsyncIterable<Buffer>,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer, void> {
    for await (const chunk of chunks) {
      signal.throwIfAborted()
      this.#position += chunk.length
      this.#parser ??= chunk[0] === OPENING_BRACE ? new DockerLogParser() : new CriLogParser()
      const output = formatter.format(this.#parser.parse(chunk))
      if (output.length > 0) yield output
      if (formatter.full) return
    }
  }

  /** What is left of an entry whose end will not come. */
  finish(formatter: LogFormatter): Buffer {
    return formatter.format(this.#parser?.finish() ?? [])
  }
}
