import { basename } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { LogDirectory, LogPlace } from '../../system/directories/logs/log-directory.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { findTailStart } from './find-tail-start.ts'
import type { TailStart } from './find-tail-start.ts'
import { LogCursor } from './log-cursor.ts'
import { LogFormatter } from './log-formatter.ts'
import type { LogFormat } from './log-formatter.ts'
import { LogSeries } from './log-series.ts'
import type { SeriesFile } from './log-series.ts'
import { isBefore, toLogTime } from './log-time.ts'

/** What to read of the log of one container. */
export interface LogRequest extends LogFormat {
  readonly place: LogPlace
  /** Counted in entries of the log, from its end. */
  readonly tailLines?: number | undefined
  /** Goes on until the container has ended. */
  readonly follow: boolean
}

export interface ReadLogDeps {
  readonly openDirectory: (place: LogPlace) => Promise<LogDirectory>
  /** False when the container has ended, and so has its log. */
  readonly mayPrint: (signal: AbortSignal) => Promise<boolean>
  readonly clock: Clock
  readonly log: Logger
}

/** There is no log where the runtime said that it is. */
class LogMissingError extends Error {
  override readonly name = 'LogMissingError'
}

// Changes in the directory wake us; this is for what they do not show: that the container ended, or that they do not work.
const POLL_MS = 1000
// Of a file that does not grow the name, and whether its container runs, are looked at this often; the name at once when one was given to another file.
const LOOK_MS = 900
// The runtime may write the last of what it has in hand to the old file although the new one is there already.
const SETTLE_MS = 200

/**
 * Reads the log of a container: what is kept of it in rotated files, the current one, and with follow what comes. Reads only as fast as it is
 * asked for more, and holds one chunk at a time. The first chunk is empty: it says that the log is there, though it may be long until it has something.
 */
export async function* readLog(
  deps: ReadLogDeps,
  desired: LogRequest,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  await using directory = await deps.openDirectory(desired.place)
  const name = basename(desired.place.path)
  const series = new LogSeries(directory, name)
  const wakeup = new Wakeup()
  const names = { haveChanged: true }
  using _ = desired.follow ? watch(deps, directory, { series, wakeup, names }) : undefined
  const last = await series.openLast()
  if (last === undefined) throw new LogMissingError(`Cannot read the log "${name}": there is no such file`)
  await using _last = last.file
  yield Buffer.alloc(0)
  yield* readSeries({ deps, desired, series, wakeup, names, formatter: new LogFormatter(desired) }, last, signal)
}

interface Reading {
  readonly deps: ReadLogDeps
  readonly desired: LogRequest
  readonly series: LogSeries
  readonly wakeup: Wakeup
  /** Another file may have the log's name since this was last looked at. */
  readonly names: { haveChanged: boolean }
  readonly formatter: LogFormatter
}

/** Without events the poll alone finds what is new. */
function watch(
  { log }: ReadLogDeps,
  directory: LogDirectory,
  { series, wakeup, names }: Pick<Reading, 'series' | 'wakeup' | 'names'>,
): Disposable {
  try {
    return directory.watch((name, what) => {
      if (name !== undefined) series.note(name)
      names.haveChanged ||= what === 'rename'
      wakeup.wake()
    })
  } catch (error) {
    log.debug('cannot watch a log', { error })
    return { [Symbol.dispose]() {} }
  }
}

async function* readSeries(reading: Reading, last: SeriesFile, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  const { series, desired, formatter } = reading
  // What is written from now on belongs to those who follow: a log that grows faster than it is read would have no end.
  const size = await last.file.size()
  const start =
    desired.tailLines === undefined
      ? { number: 0, offset: 0 }
      : await findTailStart(series, { ...last, size }, desired.tailLines)
  const offsetIn = (number: number) => (number === start.number ? start.offset : 0)
  for (let number = start.number; number < last.number; number += 1)
    yield* readRotated(reading, { number, offset: offsetIn(number) }, signal)
  const cursor = new LogCursor(last, offsetIn(last.number))
  yield* cursor.read(formatter, size, signal)
  if (desired.follow) yield* follow(reading, cursor, signal)
  else yield* finish(cursor, formatter)
}

/** A rotated file that cannot be read is no reason to withhold the others. */
async function* readRotated(
  { deps, desired, series, formatter }: Reading,
  { number, offset }: TailStart,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  if (formatter.full) return
  const file = await series.openRotated(number)
  if (file === undefined) return
  await using cursor = new LogCursor(file, offset)
  // The last entry of a file is not younger than the file itself.
  if (desired.since !== undefined && isBefore(toLogTime(file.file.modifiedAt), desired.since)) return
  try {
    yield* cursor.read(formatter, Infinity, signal)
  } catch (error) {
    signal.throwIfAborted()
    deps.log.warn('cannot read a rotated log', { path: desired.place.path, error })
  }
  yield* finish(cursor, formatter)
}

async function* follow(reading: Reading, first: LogCursor, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  let cursor = first
  try {
    for (;;) {
      const next = yield* followFile(reading, cursor, signal)
      if (next === undefined) return
      await cursor[Symbol.asyncDispose]()
      cursor = new LogCursor(next, 0)
    }
  } finally {
    await cursor[Symbol.asyncDispose]()
  }
}

/** Reads one file until nothing more can come; returns the one after it, if there is one. */
async function* followFile(
  { deps, series, wakeup, names, formatter }: Reading,
  cursor: LogCursor,
  signal: AbortSignal,
): AsyncGenerator<Buffer, SeriesFile | undefined> {
  const { clock } = deps
  let lookedAt = -Infinity
  for (let ended = false; !formatter.full;) {
    const from = cursor.position
    yield* cursor.readNew(formatter, signal)
    // What grows is the file that the runtime writes, and its container runs.
    const isQuiet = cursor.position === from && clock.monotonic() >= lookedAt + LOOK_MS
    if (ended || isQuiet || names.haveChanged) {
      names.haveChanged = false
      lookedAt = clock.monotonic()
      if (await series.isComplete(cursor.file)) {
        await clock.sleep(SETTLE_MS, signal)
        yield* cursor.read(formatter, Infinity, signal)
        yield* finish(cursor, formatter)
        return await series.openNext(cursor.file)
      }
    }
    if (ended) {
      yield* finish(cursor, formatter)
      return undefined
    }
    // What was printed between reading and this question is read in one more round.
    if (isQuiet && !(await deps.mayPrint(signal))) ended = true
    else await wakeup.wait({ clock, ms: POLL_MS }, signal)
  }
  return undefined
}

function* finish(cursor: LogCursor, formatter: LogFormatter): Generator<Buffer, void> {
  const output = cursor.finish(formatter)
  if (output.length > 0) yield output
}
