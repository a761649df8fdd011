import type { LogSeries, SeriesFile } from './log-series.ts'
import { readLogFile } from './read-log-file.ts'

/** Where the last lines of a log begin. */
export interface TailStart {
  readonly number: number
  readonly offset: number
}

const CHUNK_BYTES = 64 * 1024
const NEWLINE = 0x0a

/** Finds the beginning of the last so many lines, back through as many rotated files as it takes. */
export async function findTailStart(
  series: LogSeries,
  last: SeriesFile & { readonly size: number },
  lines: number,
): Promise<TailStart> {
  const inLast = await findBackwards(last, last.size, lines)
  let start: TailStart = { number: last.number, offset: inLast.offset }
  let missing = inLast.missing
  for (let number = last.number - 1; number >= 0 && missing > 0; number -= 1) {
    const older = await series.openRotated(number)
    if (older === undefined) continue
    await using _ = older.file
    const found = older.compressed
      ? await findForwards(older, missing)
      : await findBackwards(older, await older.file.size(), missing)
    missing = found.missing
    start = { number, offset: found.offset }
  }
  return start
}

interface Found {
  readonly offset: number
  /** How many lines the file lacks. */
  readonly missing: number
}

async function findBackwards({ file }: SeriesFile, size: number, lines: number): Promise<Found> {
  if (lines === 0) return { offset: size, missing: 0 }
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  let found = 0
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - CHUNK_BYTES)
    const count = await file.read(buffer.subarray(0, end - start), start)
    for (let at = lastNewline(buffer, count - 1); at !== -1; at = lastNewline(buffer, at - 1)) {
      // What is behind the very last newline is no line yet.
      if (start + at === size - 1) continue
      found += 1
      if (found === lines) return { offset: start + at + 1, missing: 0 }
    }
    end = start
  }
  return { offset: 0, missing: size === 0 ? lines : lines - found - 1 }
}

function lastNewline(buffer: Buffer, from: number): number {
  return from < 0 ? -1 : buffer.lastIndexOf(NEWLINE, from)
}

/** A compressed file can only be read from its beginning: once to count, once more to find the place. */
async function findForwards(file: SeriesFile, lines: number): Promise<Found> {
  const all = { from: 0, to: Infinity }
  let total = 0
  for await (const chunk of readLogFile(file, all)) total += countNewlines(chunk)
  if (total <= lines) return { offset: 0, missing: lines - total }
  let skip = total - lines
  let offset = 0
  for await (const chunk of readLogFile(file, all)) {
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) {
      skip -= 1
      if (skip === 0) return { offset: offset + at + 1, missing: 0 }
    }
    offset += chunk.length
  }
  return { offset, missing: 0 }
}

function countNewlines(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) count += 1
  return count
}
