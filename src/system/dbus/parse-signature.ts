import { DbusFormatError } from './dbus-error.ts'

/** One type of a signature as a tree. */
export type DbusType =
  | { readonly kind: 'basic'; readonly code: BasicCode }
  | { readonly kind: 'variant' }
  | { readonly kind: 'array'; readonly item: DbusType }
  | { readonly kind: 'dict'; readonly key: DbusType; readonly value: DbusType }
  | { readonly kind: 'struct'; readonly fields: readonly DbusType[] }

const BASIC_CODES = ['y', 'b', 'n', 'q', 'i', 'u', 'x', 't', 'd', 's', 'o', 'g', 'h'] as const

/** The letters of the types that hold no other: numbers, truth, text. */
export type BasicCode = (typeof BASIC_CODES)[number]

// The protocol's own bounds.
const LONGEST_SIGNATURE = 255
const DEEPEST_NESTING = 32

/** The complete types of a signature, in order. */
export function parseSignature(signature: string): readonly DbusType[] {
  if (signature.length > LONGEST_SIGNATURE) {
    throw new DbusFormatError(`Cannot read a signature of ${signature.length} letters: expected at most 255`)
  }
  const reader = { signature, position: 0 }
  const types: DbusType[] = []
  while (reader.position < signature.length) types.push(readType(reader, 0))
  return types
}

interface SignatureReader {
  readonly signature: string
  position: number
}

function readType(reader: SignatureReader, depth: number): DbusType {
  if (depth > 2 * DEEPEST_NESTING) throw problem(reader, 'types nested too deep')
  const code = reader.signature[reader.position] ?? ''
  reader.position += 1
  if (isBasicCode(code)) return { kind: 'basic', code }
  if (code === 'v') return { kind: 'variant' }
  if (code === '(') return { kind: 'struct', fields: readUntil(reader, ')', depth) }
  if (code !== 'a') throw problem(reader, code === '' ? 'an unfinished type' : `"${code}" where a type begins`)
  if (reader.signature[reader.position] !== '{') return { kind: 'array', item: readType(reader, depth + 1) }
  reader.position += 1
  const [key, value, ...others] = readUntil(reader, '}', depth + 1)
  if (key?.kind !== 'basic' || value === undefined || others.length > 0) {
    throw problem(reader, 'a dict entry that is not a basic type and one other')
  }
  return { kind: 'dict', key, value }
}

function readUntil(reader: SignatureReader, end: string, depth: number): DbusType[] {
  const types: DbusType[] = []
  while (reader.signature[reader.position] !== end) types.push(readType(reader, depth + 1))
  reader.position += 1
  if (types.length === 0) throw problem(reader, 'a struct without fields')
  return types
}

function isBasicCode(code: string): code is BasicCode {
  return (BASIC_CODES as readonly string[]).includes(code)
}

function problem(reader: SignatureReader, what: string): DbusFormatError {
  return new DbusFormatError(`Cannot read signature "${reader.signature}": ${what} at ${reader.position}`)
}
