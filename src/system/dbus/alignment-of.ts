import type { DbusType } from './parse-signature.ts'

/** Where a value of this type begins: at a multiple of this many bytes. */
export function alignmentOf(type: DbusType): number {
  if (type.kind === 'variant') return 1
  if (type.kind === 'struct') return 8
  if (type.kind === 'array' || type.kind === 'dict') return 4
  if (type.code === 'y' || type.code === 'g') return 1
  if (type.code === 'n' || type.code === 'q') return 2
  return type.code === 'x' || type.code === 't' || type.code === 'd' ? 8 : 4
}

/** The same for the entries of a dict, which are structs. */
export const DICT_ENTRY_ALIGNMENT = 8
