import type { Json } from '../files/json-value.ts'

/** Where decoding and checking leave what they find, so that all of it is reported at once. */
export interface Findings {
  problem(path: string, value: unknown, rule: string): void
  unknownField(path: string): void
}

/** The command-line flag of a field. */
export interface FieldFlag<T> {
  readonly name: string
  readonly short?: string
  readonly type: string
  readonly deprecated: boolean
  /** The value after the flag was given with these texts, in order. Throws an Error that says what was expected. */
  parse(texts: readonly string[], current: T): T
}

/** One row of the configuration: its type, default, rules and flag. Everything else is derived from these. */
export interface Field<T> {
  readonly about: string
  /** The value when it is not set. */
  readonly unset: T
  readonly flag?: FieldFlag<T> | undefined
  /** A path that, relative in the --config file, counts from that file's folder. */
  readonly isPath?: boolean | undefined
  /** The fields of an object. */
  readonly fields?: Fields | undefined
  decode(raw: Json, path: string, findings: Findings): T
  /** Undefined where Go leaves the field out. */
  encode(value: T): Json | undefined
  check(value: T, path: string, findings: Findings): void
}

export type Fields = Readonly<Record<string, Field<unknown>>>

/** The typed object that a table of fields describes. */
export type Decoded<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/** What every kind of field takes. */
export interface FieldOptions<T, D> {
  readonly about: string
  readonly default: D
  /** Zero is a value of its own (a pointer in Go's type). Without it zero means "unset" and becomes the default. */
  readonly keepsZero?: boolean
  readonly flag?: string
  readonly shortFlag?: string
  /** Only a few of the flags are not deprecated in favour of the file. */
  readonly flagStays?: boolean
  /** The rule that a value breaks, as "expected …". */
  readonly rule?: (value: T) => string | undefined
}

/** The flag of a field made from its options; the last of several values wins. */
export function scalarFlag<T>(
  options: FieldOptions<T, unknown>,
  type: string,
  parseText: (text: string) => T,
): FieldFlag<T> | undefined {
  return customFlag(options, type, (texts, current) => {
    let value = current
    for (const text of texts) value = parseText(text)
    return value
  })
}

/** The flag of a field whose values do more than replace each other. */
export function customFlag<T, V = T>(
  options: FieldOptions<T, unknown>,
  type: string,
  parse: (texts: readonly string[], current: V) => V,
): FieldFlag<V> | undefined {
  if (options.flag === undefined) return undefined
  const short = options.shortFlag === undefined ? {} : { short: options.shortFlag }
  return { name: options.flag, ...short, type, deprecated: options.flagStays !== true, parse }
}
