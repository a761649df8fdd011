import { apiWireFormat } from '../generated/api-wire-format.ts'

/** One field of a type in Protocol Buffers. */
export type WireField =
  | { readonly kind: 'field'; readonly name: string; readonly isOmittedWhenZero: boolean }
  /** A type whose fields stand in JSON among those of the type that has it. */
  | { readonly kind: 'inline'; readonly typeName: string }

const read = new Map<string, ReadonlyMap<number, WireField>>()

/** The fields of an API type by their number. */
export function wireFieldsOf(typeName: string): ReadonlyMap<number, WireField> {
  return read.getOrInsertComputed(
    typeName,
    () => new Map((apiWireFormat[typeName] ?? '').split(' ').filter(Boolean).map(readField)),
  )
}

function readField(text: string): [number, WireField] {
  const [, inline, name = '', number, omitted] = /^(\+?)(\w+)=(\d+)(\??)$/.exec(text) ?? []
  const field: WireField =
    inline === '+' ? { kind: 'inline', typeName: name } : { kind: 'field', name, isOmittedWhenZero: omitted === '?' }
  return [Number(number), field]
}

const omitted = new Map<string, ReadonlySet<string>>()

/** The names of the fields that are absent when they are zero, those of inlined types included. */
export function omittedWhenZero(typeName: string): ReadonlySet<string> {
  return omitted.getOrInsertComputed(typeName, () => {
    const names = [...wireFieldsOf(typeName).values()].flatMap((field) => {
      if (field.kind === 'inline') return [...omittedWhenZero(field.typeName)]
      return field.isOmittedWhenZero ? [field.name] : []
    })
    return new Set(names)
  })
}
