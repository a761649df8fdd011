import type { Clock } from '../async/clock.ts'
import { computeFileVerbosity } from './compute-file-verbosity.ts'
import type { FileVerbosity } from './compute-file-verbosity.ts'
import { findCaller } from './find-caller.ts'
import type { FindSource } from './find-caller.ts'
import type { LogFields, Logger } from './logger.ts'

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
  readonly write: (line: string) => void
  /** Who logs, in the text form. */
  readonly program?: string
  /** Files that log more than the others; a pattern without a slash is for the name of the file, without its ending. */
  readonly modules?: readonly FileVerbosity[]
  /** Needed for those where sources are put together in other files. */
  readonly findSource?: FindSource
}

type Level = 'error' | 'warn' | 'info' | 'debug'

const DEBUG_VERBOSITY = 4
const OWN = '/telemetry/create-logger.ts'
// Whatever stands under such a name never reaches a log, at any level.
const SECRET_NAMES = /token|password|passwd|authorization|credential|secret(?!Name)|privateKey/i

/**
 * Writes lines in the two formats of the Go kubelet: its text form ("I1115 22:14:41.123456 812 kubelet] ...") or JSON.
 * One module instead of a library, because libraries write JSON only, and the text form is the default.
 */
export function createLogger(options: LoggerOptions, bound: LogFields = {}): Logger {
  const line =
    (level: Level) =>
    (message: string, fields: LogFields = {}) => {
      if (level === 'debug' && verbosityOf(options) < DEBUG_VERBOSITY && !callerLogs(options)) return
      const all = { ...bound, ...fields }
      options.write(
        options.format === 'json' ? toJsonLine(options, level, message, all) : toTextLine(options, level, message, all),
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

function toJsonLine({ clock }: LoggerOptions, level: Level, message: string, fields: LogFields): string {
  const plain = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toPlain(name, value)]))
  return `${JSON.stringify({ ts: clock.now() / 1000, level, msg: message, ...plain }, replaceValue)}\n`
}

function toTextLine(
  { clock, pid, program = 'kubelet' }: LoggerOptions,
  level: Level,
  message: string,
  fields: LogFields,
): string {
  const time = new Date(clock.now())
  const two = (number: number) => String(number).padStart(2, '0')
  const date = `${two(time.getMonth() + 1)}${two(time.getDate())}`
  const clockTime = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, '0')}000`
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${toText(toPlain(name, value))}`)
  return `${level === 'debug' ? 'I' : level.charAt(0).toUpperCase()}${date} ${clockTime} ${String(pid).padStart(7)} ${program}] ${JSON.stringify(message)}${rest.join('')}\n`
}

function toText(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value, replaceValue) ?? 'null')
}

function toPlain(name: string, value: unknown): unknown {
  if (SECRET_NAMES.test(name)) return '[redacted]'
  return Error.isError(value) ? errorText(value) : value
}

function replaceValue(name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  return name === '' ? value : toPlain(name, value)
}

/** What is thrown should be an Error; what is not is shown as well as can be. */
function describe(thrown: unknown): string {
  return typeof thrown === 'string' ? thrown : toText(thrown)
}

const REPORTED_END = 30

/** An error with all that caused it, as one sentence. */
export function errorText(error: unknown): string {
  const texts: string[] = []
  let next = error
  while (next !== undefined && texts.length < 8) {
    // What failed first is what matters; what failed while leaving its block is mostly the same.
    if (next instanceof SuppressedError) {
      next = next.suppressed
      continue
    }
    const text = Error.isError(next) ? next.message : describe(next)
    // Each layer repeats the words of the one below behind its own: the end tells.
    if (!texts.some((said) => said.includes(text) || said.endsWith(text.slice(-REPORTED_END)))) texts.push(text)
    next = Error.isError(next) ? next.cause : undefined
  }
  return texts.join(': ')
}
