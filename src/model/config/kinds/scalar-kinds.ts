import { isIP } from 'node:net'
import { parseQuantity } from '../../resources/quantity.ts'
import type { Json } from '../files/json-value.ts'
import { formatGoDuration, parseGoDuration, type Milliseconds } from '../values/go-duration.ts'
import { parseGoBool, parseGoInteger } from '../values/go-scalars.ts'
import { scalarFlag, type Field, type FieldOptions } from './field.ts'

interface Scalar<T> {
  readonly type: string
  readonly expected: string
  readonly zero: T
  /** Structs have no empty value for Go's encoder, so durations are always written. */
  readonly writesZero?: boolean
  /** Undefined when the JSON value is of another type. */
  read(raw: Json): T | undefined
  write(value: T): Json
  parseText(text: string): T
}

function scalar<T, D>(kind: Scalar<T>, options: FieldOptions<T, D>): Field<T | D> {
  const unset = options.default
  const isUnset = (value: T | D) => value === undefined || (options.keepsZero !== true && value === kind.zero)
  return {
    about: options.about,
    unset,
    flag: scalarFlag<T | D>(options as FieldOptions<T | D, D>, kind.type, (value) => kind.parseText(value)),
    decode(raw, path, findings) {
      if (raw === null) return unset
      const value = kind.read(raw)
      if (value === undefined) findings.problem(path, raw, kind.expected)
      return value === undefined || isUnset(value) ? unset : value
    },
    encode: (value) =>
      value === undefined || (isUnset(value) && kind.writesZero !== true) ? undefined : kind.write(value as T),
    check(value, path, findings) {
      const broken = value === undefined ? undefined : options.rule?.(value as T)
      if (broken !== undefined) findings.problem(path, kind.write(value as T), broken)
    },
  }
}

/** true or false. */
export function bool<D extends boolean | undefined>(options: FieldOptions<boolean, D>): Field<boolean | D> {
  const expected = 'expected true or false'
  const read = (raw: Json) => (typeof raw === 'boolean' ? raw : undefined)
  return scalar({ type: 'bool', expected, zero: false, read, write: (value) => value, parseText: parseGoBool }, options)
}

/** Any text. */
export function text<D extends string | undefined>(options: FieldOptions<string, D>): Field<string | D> {
  const expected = 'expected a text'
  const read = (raw: Json) => (typeof raw === 'string' ? raw : undefined)
  return scalar(
    { type: 'string', expected, zero: '', read, write: (value) => value, parseText: (value) => value },
    options,
  )
}

/** The path of a file or folder. */
export function path(options: FieldOptions<string, string>): Field<string> {
  return { ...text(options), isPath: true }
}

/** One of a few words; anything else breaks a rule, it is not another type. */
export function choice<const W extends string, const D extends W | undefined>(
  words: readonly W[],
  options: FieldOptions<W, D>,
): Field<W | D> {
  const named = words.map((word) => (word === '' ? 'nothing' : word)).join(', ')
  const rule = (value: W) => (words.includes(value) ? options.rule?.(value) : `expected one of ${named}`)
  const read = (raw: Json) => (typeof raw === 'string' ? (raw as W) : undefined)
  const kind = { type: 'string', expected: 'expected a text', zero: '' as W, read, write: (value: W) => value }
  return scalar({ ...kind, parseText: (value) => value as W }, { ...options, rule })
}

/** An IP address; the flag refuses anything else at once. */
export function ipAddress(options: FieldOptions<string, string>): Field<string> {
  const parse = (value: string): string => {
    if (value !== '' && isIP(value) === 0) throw new Error('expected an IP address')
    return value
  }
  return { ...text(options), flag: scalarFlag(options, 'ip', parse) }
}

interface Bounds {
  readonly min?: number
  readonly max?: number
}

const TYPES = {
  int32: { type: 'int32', least: -(2 ** 31), most: 2 ** 31 - 1 },
  // What JavaScript holds exactly. Larger values are refused, never rounded.
  int64: { type: 'int', least: Number.MIN_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER },
} as const

function integer<D extends number | undefined>(
  { type, least, most }: { readonly type: string; readonly least: number; readonly most: number },
  options: FieldOptions<number, D> & Bounds,
): Field<number | D> {
  const { min = least, max = most } = options
  const expected = `expected a whole number from ${least} to ${most}`
  const bounds = max === most ? `expected at least ${min}` : `expected ${min} to ${max}`
  const fits = (value: number) => Number.isInteger(value) && value >= least && value <= most
  const parseText = (value: string): number => {
    const parsed = Number(parseGoInteger(value) ?? Number.NaN)
    if (!fits(parsed)) throw new Error(expected)
    return parsed
  }
  const read = (raw: Json) => (typeof raw === 'number' && fits(raw) ? raw : undefined)
  const rule = (value: number) => (value < min || value > max ? bounds : options.rule?.(value))
  return scalar({ type, expected, zero: 0, read, write: (value) => value, parseText }, { ...options, rule })
}

/** A whole number of 32 bits. */
export function int32<D extends number | undefined>(options: FieldOptions<number, D> & Bounds): Field<number | D> {
  return integer(TYPES.int32, options)
}

/** A whole number of 64 bits, of which we hold 53 and refuse the rest. */
export function int64<D extends number | undefined>(options: FieldOptions<number, D> & Bounds): Field<number | D> {
  return integer(TYPES.int64, options)
}

/** The log level: 0 to 2^31 - 1. */
export function level(options: FieldOptions<number, number>): Field<number> {
  return integer({ type: 'Level', least: 0, most: 2 ** 31 - 1 }, options)
}

/** A number with a fraction. */
export function float(options: FieldOptions<number, number>): Field<number> {
  const expected = 'expected a number'
  const read = (raw: Json) => (typeof raw === 'number' ? raw : undefined)
  const parseText = (value: string) => Number(value)
  return scalar({ type: 'float', expected, zero: 0, read, write: (value) => value, parseText }, options)
}

/** A duration, as text in Go's form outside and as milliseconds inside. Defaults and bounds are given in Go's form. */
export function duration<D extends string | undefined>(
  options: Omit<FieldOptions<Milliseconds, D>, 'rule'> & {
    readonly min?: string
    readonly max?: string
    /** Whole numbers are taken too, as nanoseconds. */
    readonly takesNanoseconds?: boolean
    readonly rule?: (value: Milliseconds) => string | undefined
  },
): Field<Milliseconds | (D extends undefined ? undefined : Milliseconds)> {
  const { min, max, takesNanoseconds = false } = options
  const least = min === undefined ? -Infinity : parseGoDuration(min)
  const most = max === undefined ? Infinity : parseGoDuration(max)
  const bounds = max === undefined ? `expected at least ${min}` : `expected ${min} to ${max}`
  const rule = (value: number) => (value < least || value > most ? bounds : options.rule?.(value))
  const expected = 'expected a duration such as "1m30s"'
  const read = (raw: Json): number | undefined => {
    if (takesNanoseconds && typeof raw === 'number' && Number.isInteger(raw)) return raw / 1e6
    return typeof raw === 'string' ? attempt(() => parseGoDuration(raw)) : undefined
  }
  const parseText = (value: string): number => {
    const parsed = attempt(() => parseGoDuration(value))
    if (parsed === undefined) throw new Error(expected)
    return parsed
  }
  const unset = (options.default === undefined ? undefined : parseGoDuration(options.default)) as D extends undefined
    ? undefined
    : Milliseconds
  const kind = { type: 'duration', expected, zero: 0, writesZero: true, read, write: formatGoDuration, parseText }
  return scalar(kind, { ...options, default: unset, rule })
}

/** A quantity kept as text, because that is how it is shown again; numbers are taken as text. */
export function quantity(options: FieldOptions<string, string>): Field<string> {
  const expected = 'expected a quantity such as "10Mi"'
  const parseText = (value: string): string => {
    if (attempt(() => parseQuantity(value)) === undefined) throw new Error(expected)
    return value
  }
  const read = (raw: Json) => {
    const value = typeof raw === 'number' || typeof raw === 'bigint' ? String(raw) : raw
    return typeof value === 'string' ? attempt(() => parseText(value)) : undefined
  }
  return scalar({ type: 'quantity', expected, zero: '', read, write: (value) => value, parseText }, options)
}

/** The result, or undefined when the parser refuses. */
export function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}
