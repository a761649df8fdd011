import type { Clock } from '../async/clock.ts'
import { computeFileVerbosity } from './compute-file-verbosity.ts'
import type { FileVerbosity } from './compute-file-verbosity.ts'
import type { LogLevel } from './create-log-output.ts'
import type { LogFields, Logger } from './logger.ts'
import { replaceValue, toLoggable, toText } from './error-text.ts'

// The logger itself, and whatever wraps it.
const CALLER_DEPTH = 8

/** Finds the source that a line of a file comes from; undefined where the file is the source. */
type FindSource = (path: string, line: number) => string | undefined

/** How much is logged; may be changed while the agent runs. */
export interface Verbosity {
  get(): number
  set(level: number): void
}

export function createVerbosity(level: number): Verbosity {
  let current = level
  return { get: () => current, set: (next) => void (current = next) }
}

export interface LoggerOptions {
  readonly format: 'text' | 'json'
  /** Decisions (debug) are written from 4 on. */
  readonly verbosity: number | Pick<Verbosity, 'get'>
  readonly clock: Clock
  readonly pid: number
  readonly write: (line: string, level: LogLevel) => void
  /** Who logs, in the text form. */
  readonly program?: string
  /** Files that log more than the others; a pattern without a slash is for the name of the file, without its ending. */
  readonly modules?: readonly FileVerbosity[]
  /** Needed for those where sources are put together in other files. */
  readonly findSource?: FindSource
}

const DEBUG_VERBOSITY = 4
const OWN = '/telemetry/create-logger.ts'

/**
 * Writes lines in the two formats of the Go kubelet: its text form ("I1115 22:14:41.123456 812 kubelet] ...") or JSON.
 * One module instead of a library, because libraries write JSON only, and the text form is the default.
 */
export function createLogger(options: LoggerOptions, bound: LogFields = {}): Logger {
  const line =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (level === 'debug' && verbosityOf(options) < DEBUG_VERBOSITY && !callerLogs(options)) return
      const all = { ...bound, ...fields }
      options.write(
        options.format === 'json' ? toJsonLine(options, level, message, all) : toTextLine(options, level, message, all),
        level,
      )
    }
  return {
    error: line('error'),
    warn: line('warn'),
    info: line('info'),
    debug: line('debug'),
    child: (fields) => createLogger(options, { ...bound, ...fields }),
  }
}

/** Asked only where single files log more than the others: finding the caller takes a while. */
function callerLogs({ modules = [], findSource }: LoggerOptions): boolean {
  return modules.length > 0 && computeFileVerbosity(modules, findCaller(OWN, findSource)) >= DEBUG_VERBOSITY
}

function verbosityOf({ verbosity }: LoggerOptions): number {
  return typeof verbosity === 'number' ? verbosity : verbosity.get()
}

function toJsonLine({ clock }: LoggerOptions, level: LogLevel, message: string, fields: LogFields): string {
  const plain = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toLoggable(name, value)]))
  return `${JSON.stringify({ ts: clock.now() / 1000, level, msg: message, ...plain }, replaceValue)}\n`
}

function toTextLine(
  { clock, pid, program = 'kubelet' }: LoggerOptions,
  level: LogLevel,
  message: string,
  fields: LogFields,
): string {
  const time = new Date(clock.now())
  const two = (number: number) => String(number).padStart(2, '0')
  const date = `${two(time.getMonth() + 1)}${two(time.getDate())}`
  const clockTime = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, '0')}000`
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${toText(toLoggable(name, value))}`)
  return `${level === 'debug' ? 'I' : level.charAt(0).toUpperCase()}${date} ${clockTime} ${String(pid).padStart(7)} ${program}] ${JSON.stringify(message)}${rest.join('')}\n`
}

/** The source from which this one was called; empty when that is unknown. */
function findCaller(own: string, findSource: FindSource = () => undefined): string {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = CALLER_DEPTH
  const { stack = '' } = new Error('where are we?')
  Error.stackTraceLimit = limit
  const sources = [...stack.matchAll(/(?:file:\/\/|[ (])(\/[^\s)]+?):(\d+):\d+/g)].map(([, url = '', line]) => {
    const path = decodeURI(url)
    return findSource(path, Number(line)) ?? path
  })
  const place = sources.findLastIndex((source) => source.endsWith(own))
  return place === -1 ? '' : (sources[place + 1] ?? '')
}
