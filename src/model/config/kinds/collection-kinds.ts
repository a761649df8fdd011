import { isJsonObject, type Json } from '../files/json-value.ts'
import { customFlag, type Decoded, type Field, type FieldOptions, type Fields, type Findings } from './field.ts'
import { parseCommaList, parsePairs, type PairForm } from './flag-forms.ts'

export type TextMap = Readonly<Record<string, string>>

type Collection<T, D> = Omit<FieldOptions<T, D>, 'keepsZero' | 'rule'>

function decodeList<T>(
  raw: Json,
  path: string,
  findings: Findings,
  decodeItem: (raw: Json, path: string) => T | undefined,
): readonly T[] | undefined {
  if (!Array.isArray(raw)) {
    findings.problem(path, raw, 'expected a list')
    return undefined
  }
  return raw.map((item: Json, index) => decodeItem(item, `${path}[${index}]`)).filter((item) => item !== undefined)
}

/** A list of values of one type. */
export function listOf<T extends Json>(
  kind: { readonly type: string; readonly expected: string; read(raw: Json): T | undefined },
  options: Collection<readonly T[], readonly T[]> & {
    readonly item?: (value: T, list: readonly T[]) => string | undefined
    readonly parseFlag?: (texts: readonly string[]) => readonly T[]
  },
): Field<readonly T[]> {
  const { parseFlag = () => [] } = options
  return {
    about: options.about,
    unset: options.default,
    flag: customFlag(options, kind.type, parseFlag),
    decode(raw, path, findings) {
      if (raw === null) return options.default
      const decodeItem = (item: Json, at: string): T | undefined => {
        const value = kind.read(item)
        if (value === undefined) findings.problem(at, item, kind.expected)
        return value
      }
      return decodeList(raw, path, findings, decodeItem) ?? options.default
    },
    encode: (value) => (value.length === 0 ? undefined : value),
    check(value, path, findings) {
      for (const [index, item] of value.entries()) {
        const broken = options.item?.(item, value)
        if (broken !== undefined) findings.problem(`${path}[${index}]`, item, broken)
      }
    },
  }
}

/** A list of texts. */
export function textList(
  options: Collection<readonly string[], readonly string[]> & {
    readonly item?: (value: string, list: readonly string[]) => string | undefined
  },
): Field<readonly string[]> {
  const read = (raw: Json) => (typeof raw === 'string' ? raw : undefined)
  const parseFlag = (texts: readonly string[]) => texts.flatMap(parseCommaList)
  return listOf({ type: 'strings', expected: 'expected a text', read }, { ...options, parseFlag })
}

/** A list of objects that all have these fields. */
export function objectList<F extends Fields>(
  fields: F,
  options: Collection<readonly Decoded<F>[], readonly Decoded<F>[]> & {
    readonly flagType?: string
    readonly parseFlag?: (texts: readonly string[]) => readonly Decoded<F>[]
  },
): Field<readonly Decoded<F>[]> {
  const item = object(fields, options)
  const { parseFlag = () => [] } = options
  return {
    about: options.about,
    unset: options.default,
    flag: customFlag(options, options.flagType ?? 'list', parseFlag),
    decode(raw, path, findings) {
      if (raw === null) return options.default
      return decodeList(raw, path, findings, (part, at) => item.decode(part, at, findings)) ?? options.default
    },
    encode: (value) => (value.length === 0 ? undefined : value.map((part) => item.encode(part) ?? null)),
    check(value, path, findings) {
      for (const [index, part] of value.entries()) item.check(part, `${path}[${index}]`, findings)
    },
  }
}

/** A map of any keys to values of one type. */
export function mapOf<T, D extends Readonly<Record<string, T>> | undefined>(
  kind: { readonly type: string; readonly expected: string; read(raw: Json): T | undefined; write(value: T): Json },
  options: Collection<Readonly<Record<string, T>>, D> & {
    readonly entry?: (key: string, value: T) => string | undefined
    readonly parseFlag: (texts: readonly string[], current: Readonly<Record<string, T>>) => Readonly<Record<string, T>>
    /** Values are never shown, not even in an error. */
    readonly secret?: boolean
  },
): Field<Readonly<Record<string, T>> | Extract<D, undefined>> {
  const { secret = false } = options
  type M = Readonly<Record<string, T>>
  const unset = options.default as M | Extract<D, undefined>
  return {
    about: options.about,
    unset,
    flag: customFlag<M, M | Extract<D, undefined>>(options, kind.type, (texts, current) =>
      options.parseFlag(texts, current ?? {}),
    ),
    decode(raw, path, findings) {
      if (raw === null) return unset
      if (!isJsonObject(raw)) {
        findings.problem(path, secret ? '***' : raw, 'expected an object')
        return unset
      }
      const entries: (readonly [string, T])[] = []
      for (const [key, part] of raw) {
        const value = kind.read(part)
        if (value === undefined) findings.problem(`${path}[${key}]`, secret ? '***' : part, kind.expected)
        else entries.push([key, value])
      }
      // Object.fromEntries defines "__proto__" as a key of its own.
      return Object.fromEntries(entries)
    },
    encode(value) {
      const entries = Object.entries(value ?? {})
      return entries.length === 0 ? undefined : new Map(entries.map(([key, part]) => [key, kind.write(part)]))
    },
    check(value, path, findings) {
      for (const [key, part] of Object.entries(value ?? {})) {
        const broken = options.entry?.(key, part)
        if (broken !== undefined) findings.problem(`${path}[${key}]`, secret ? '***' : part, broken)
      }
    },
  }
}

/** A map of texts; the flag's form is "key=value,…" unless said otherwise. */
export function textMap<D extends TextMap | undefined>(
  options: Collection<TextMap, D> & {
    readonly entry?: (key: string, value: string) => string | undefined
    readonly pairs?: PairForm
    /** Numbers are taken as their text, as for quantities. */
    readonly takesNumbers?: boolean
  },
): Field<TextMap | Extract<D, undefined>> {
  const { pairs = { separator: '=' }, takesNumbers = false } = options
  const read = (raw: Json): string | undefined => {
    if (takesNumbers && (typeof raw === 'number' || typeof raw === 'bigint')) return String(raw)
    return typeof raw === 'string' ? raw : undefined
  }
  const kind = { type: 'mapStringString', expected: 'expected a text', read, write: (value: string) => value }
  const parseFlag = (texts: readonly string[]) => Object.fromEntries(texts.flatMap((part) => parsePairs(part, pairs)))
  return mapOf(kind, { ...options, parseFlag })
}

/** An object with a fixed set of fields. */
export function object<F extends Fields>(fields: F, options: { readonly about: string }): Field<Decoded<F>> {
  const unset = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.unset])) as Decoded<F>
  return {
    about: options.about,
    unset,
    fields,
    decode: (raw, path, findings) => decodeFields(fields, raw, path, findings) ?? unset,
    encode(value) {
      const entries = new Map<string, Json>()
      for (const [name, field] of Object.entries(fields)) {
        const part = field.encode(value[name])
        if (part !== undefined) entries.set(name, part)
      }
      return entries
    },
    check(value, path, findings) {
      for (const [name, field] of Object.entries(fields)) {
        field.check(value[name], path === '' ? name : `${path}.${name}`, findings)
      }
    },
  }
}

/** An object that may be absent as a whole. */
export function optionalObject<F extends Fields>(
  fields: F,
  options: { readonly about: string },
): Field<Decoded<F> | undefined> {
  const inner = object(fields, options)
  return {
    about: options.about,
    unset: undefined,
    decode: (raw, path, findings) => (raw === null ? undefined : inner.decode(raw, path, findings)),
    encode: (value) => (value === undefined ? undefined : inner.encode(value)),
    check: (value, path, findings) => (value === undefined ? undefined : inner.check(value, path, findings)),
  }
}

function decodeFields<F extends Fields>(
  fields: F,
  raw: Json,
  path: string,
  findings: Findings,
): Decoded<F> | undefined {
  if (raw === null) return undefined
  if (!isJsonObject(raw)) {
    findings.problem(path, raw, 'expected an object')
    return undefined
  }
  const under = (name: string) => (path === '' ? name : `${path}.${name}`)
  for (const name of raw.keys()) if (!Object.hasOwn(fields, name)) findings.unknownField(under(name))
  const entries = Object.entries(fields).map(([name, field]) => {
    const part = raw.get(name)
    return [name, part === undefined ? field.unset : field.decode(part, under(name), findings)]
  })
  return Object.fromEntries(entries) as Decoded<F>
}
