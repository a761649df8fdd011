import { inspect } from 'node:util'
import { alignmentOf, DICT_ENTRY_ALIGNMENT } from './alignment-of.ts'
import { DbusFormatError } from './dbus-error.ts'
import type { DbusValue, DbusVariant } from './dbus-value.ts'
import { type BasicCode, type DbusType, parseSignature } from './parse-signature.ts'

const FIRST_SIZE = 256
/** The protocol's bound of one array. */
export const LARGEST_ARRAY_BYTES = 64 * 1024 * 1024

/** Values to bytes, little endian. Positions count from the first byte written, which must be at a multiple of 8 of its message. */
export class DbusWriter {
  #buffer = Buffer.alloc(FIRST_SIZE)
  #length = 0

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /** One value for each type of the signature. */
  writeAll(signature: string, values: readonly DbusValue[]): void {
    const types = parseSignature(signature)
    if (types.length !== values.length) {
      throw new DbusFormatError(
        `Cannot write ${values.length} values as "${signature}": expected ${types.length}, one for each type`,
      )
    }
    for (const [index, type] of types.entries()) this.#write(type, values[index])
  }

  align(size: number): void {
    const padding = (size - (this.#length % size)) % size
    this.#reserve(padding)
    this.#length += padding
  }

  #write(type: DbusType, value: DbusValue | undefined): void {
    switch (type.kind) {
      case 'basic':
        return this.#writeBasic(type.code, value)
      case 'variant':
        return this.#writeVariant(value)
      case 'struct':
        this.align(alignmentOf(type))
        return this.#writeFields(type.fields, value)
      case 'array':
        return this.#writeArray(type.item, value)
      case 'dict':
        return this.#writeDict(type, value)
    }
  }

  #writeVariant(value: DbusValue | undefined): void {
    if (!isVariant(value)) throw mismatch('v', value)
    const [type, ...others] = parseSignature(value.signature)
    if (type === undefined || others.length > 0) throw mismatch('v', value)
    this.#writeBasic('g', value.signature)
    this.#write(type, value.value)
  }

  #writeFields(types: readonly DbusType[], value: DbusValue | undefined): void {
    if (!isArray(value) || value.length !== types.length) throw mismatch('a struct', value)
    for (const [index, type] of types.entries()) this.#write(type, value[index])
  }

  #writeArray(item: DbusType, value: DbusValue | undefined): void {
    if (!isArray(value)) throw mismatch('an array', value)
    this.#writeCounted(alignmentOf(item), () => {
      for (const each of value) this.#write(item, each)
    })
  }

  #writeDict(type: DbusType & { kind: 'dict' }, value: DbusValue | undefined): void {
    if (!(value instanceof Map)) throw mismatch('a dict', value)
    this.#writeCounted(DICT_ENTRY_ALIGNMENT, () => {
      for (const [key, each] of value as ReadonlyMap<DbusValue, DbusValue>) {
        this.align(DICT_ENTRY_ALIGNMENT)
        this.#write(type.key, key)
        this.#write(type.value, each)
      }
    })
  }

  /** The length of an array does not count the padding before its first item. */
  #writeCounted(alignment: number, writeItems: () => void): void {
    const lengthAt = this.#take(4, 4)
    this.align(alignment)
    const start = this.#length
    writeItems()
    const size = this.#length - start
    if (size > LARGEST_ARRAY_BYTES)
      throw new DbusFormatError(`Cannot write an array of ${size} bytes: expected at most 64 MiB`)
    this.#buffer.writeUInt32LE(size, lengthAt)
  }

  #writeBasic(code: BasicCode, value: DbusValue | undefined): void {
    try {
      this.#writeChecked(code, value)
    } catch (cause) {
      if (cause instanceof DbusFormatError) throw cause
      throw mismatch(code, value, cause)
    }
  }

  #writeChecked(code: BasicCode, value: DbusValue | undefined): void {
    if (typeof value === 'bigint') return this.#writeLong(code, value)
    if (typeof value === 'string') return this.#writeText(code, value)
    if (code === 'b' && typeof value === 'boolean') {
      this.#buffer.writeUInt32LE(value ? 1 : 0, this.#take(4, 4))
    } else if (typeof value === 'number') {
      this.#writeNumber(code, value)
    } else {
      throw mismatch(code, value)
    }
  }

  #writeNumber(code: BasicCode, value: number): void {
    if (code !== 'd' && !Number.isSafeInteger(value)) throw mismatch(code, value)
    if (code === 'y') this.#writeAt(1, (buffer, at) => buffer.writeUInt8(value, at))
    else if (code === 'n') this.#writeAt(2, (buffer, at) => buffer.writeInt16LE(value, at))
    else if (code === 'q') this.#writeAt(2, (buffer, at) => buffer.writeUInt16LE(value, at))
    else if (code === 'i') this.#writeAt(4, (buffer, at) => buffer.writeInt32LE(value, at))
    else if (code === 'u' || code === 'h') this.#writeAt(4, (buffer, at) => buffer.writeUInt32LE(value, at))
    else if (code === 'd') this.#writeAt(8, (buffer, at) => buffer.writeDoubleLE(value, at))
    else throw mismatch(code, value)
  }

  #writeLong(code: BasicCode, value: bigint): void {
    if (code === 'x') this.#writeAt(8, (buffer, at) => buffer.writeBigInt64LE(value, at))
    else if (code === 't') this.#writeAt(8, (buffer, at) => buffer.writeBigUInt64LE(value, at))
    else throw mismatch(code, value)
  }

  #writeText(code: BasicCode, value: string): void {
    const bytes = Buffer.from(value, 'utf8')
    if (bytes.includes(0) || !value.isWellFormed()) throw mismatch(code, value)
    if (code === 'g') this.#writeAt(1, (buffer, at) => buffer.writeUInt8(bytes.length, at))
    else if (code === 's' || code === 'o') this.#writeAt(4, (buffer, at) => buffer.writeUInt32LE(bytes.length, at))
    else throw mismatch(code, value)
    const at = this.#take(1, bytes.length + 1)
    bytes.copy(this.#buffer, at)
  }

  #writeAt(size: number, write: (buffer: Buffer, at: number) => void): void {
    const at = this.#take(size, size)
    write(this.#buffer, at)
  }

  /** Room for size bytes, all zero, at a multiple of alignment. */
  #take(alignment: number, size: number): number {
    this.align(alignment)
    this.#reserve(size)
    const at = this.#length
    this.#length += size
    return at
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#buffer.length) return
    const larger = Buffer.alloc(Math.max(2 * this.#buffer.length, this.#length + size))
    this.#buffer.copy(larger)
    this.#buffer = larger
  }
}

function isArray(value: DbusValue | undefined): value is readonly DbusValue[] {
  return Array.isArray(value)
}

function isVariant(value: DbusValue | undefined): value is DbusVariant {
  return typeof value === 'object' && 'signature' in value
}

function mismatch(type: string, value: unknown, cause?: unknown): DbusFormatError {
  const shown = inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY }).slice(0, 80)
  return new DbusFormatError(`Cannot write ${shown} as D-Bus type ${type}`, { cause })
}
