import { alignmentOf, DICT_ENTRY_ALIGNMENT } from './alignment-of.ts'
import { DbusFormatError } from './dbus-error.ts'
import type { DbusValue, DbusVariant } from './dbus-value.ts'
import { LARGEST_ARRAY_BYTES } from './dbus-writer.ts'
import { type BasicCode, type DbusType, parseSignature } from './parse-signature.ts'

// Variants in variants are the one way to nest without end.
const DEEPEST_VARIANT = 64

/** Bytes to values, in either byte order. Positions count from the first byte, which was at a multiple of 8 of its message. */
export class DbusReader {
  readonly #bytes: Buffer
  readonly #littleEndian: boolean
  #position = 0
  #depth = 0

  constructor(bytes: Buffer, littleEndian: boolean) {
    this.#bytes = bytes
    this.#littleEndian = littleEndian
  }

  get position(): number {
    return this.#position
  }

  /** One value for each type of the signature. */
  readAll(signature: string): DbusValue[] {
    return parseSignature(signature).map((type) => this.#read(type))
  }

  align(size: number): void {
    this.#take(1, (size - (this.#position % size)) % size)
  }

  #read(type: DbusType): DbusValue {
    switch (type.kind) {
      case 'basic':
        return this.#readBasic(type.code)
      case 'variant':
        return this.#readVariant()
      case 'struct':
        this.align(alignmentOf(type))
        return type.fields.map((field) => this.#read(field))
      case 'array':
        return this.#readArray(type.item)
      case 'dict':
        return this.#readDict(type)
    }
  }

  #readVariant(): DbusVariant {
    const signature = this.#readText(1)
    const [type, ...others] = parseSignature(signature)
    if (type === undefined || others.length > 0 || this.#depth >= DEEPEST_VARIANT) {
      throw new DbusFormatError(`Cannot read a variant of "${signature}": expected one type, nested at most 64 deep`)
    }
    this.#depth += 1
    const value = this.#read(type)
    this.#depth -= 1
    return { signature, value }
  }

  #readArray(item: DbusType): DbusValue[] {
    const values: DbusValue[] = []
    const end = this.#readLength(alignmentOf(item))
    while (this.#position < end) values.push(this.#read(item))
    if (this.#position !== end)
      throw new DbusFormatError('Cannot read an array: its last item is larger than the array')
    return values
  }

  #readDict(type: DbusType & { kind: 'dict' }): ReadonlyMap<DbusValue, DbusValue> {
    const entries = new Map<DbusValue, DbusValue>()
    const end = this.#readLength(DICT_ENTRY_ALIGNMENT)
    while (this.#position < end) {
      this.align(DICT_ENTRY_ALIGNMENT)
      const key = this.#read(type.key)
      entries.set(key, this.#read(type.value))
    }
    if (this.#position !== end) throw new DbusFormatError('Cannot read a dict: its last entry is larger than the dict')
    return entries
  }

  /** Where the items of an array end. */
  #readLength(alignment: number): number {
    const size = this.#readUnsigned()
    if (size > LARGEST_ARRAY_BYTES)
      throw new DbusFormatError(`Cannot read an array of ${size} bytes: expected at most 64 MiB`)
    this.align(alignment)
    return this.#position + size
  }

  #readBasic(code: BasicCode): DbusValue {
    const view = this.#bytes
    const little = this.#littleEndian
    switch (code) {
      case 'y':
        return view.readUInt8(this.#take(1, 1))
      case 'b':
        return this.#readBoolean()
      case 'n':
        return little ? view.readInt16LE(this.#take(2, 2)) : view.readInt16BE(this.#take(2, 2))
      case 'q':
        return little ? view.readUInt16LE(this.#take(2, 2)) : view.readUInt16BE(this.#take(2, 2))
      case 'i':
        return little ? view.readInt32LE(this.#take(4, 4)) : view.readInt32BE(this.#take(4, 4))
      case 'u':
      case 'h':
        return this.#readUnsigned()
      case 'x':
        return little ? view.readBigInt64LE(this.#take(8, 8)) : view.readBigInt64BE(this.#take(8, 8))
      case 't':
        return little ? view.readBigUInt64LE(this.#take(8, 8)) : view.readBigUInt64BE(this.#take(8, 8))
      case 'd':
        return little ? view.readDoubleLE(this.#take(8, 8)) : view.readDoubleBE(this.#take(8, 8))
      case 's':
      case 'o':
        return this.#readText(4)
      case 'g':
        return this.#readText(1)
    }
  }

  #readBoolean(): boolean {
    const value = this.#readUnsigned()
    if (value > 1) throw new DbusFormatError(`Cannot read ${value} as a boolean: expected 0 or 1`)
    return value === 1
  }

  #readUnsigned(): number {
    const at = this.#take(4, 4)
    return this.#littleEndian ? this.#bytes.readUInt32LE(at) : this.#bytes.readUInt32BE(at)
  }

  #readText(lengthSize: 1 | 4): string {
    const size = lengthSize === 1 ? this.#bytes.readUInt8(this.#take(1, 1)) : this.#readUnsigned()
    const at = this.#take(1, size + 1)
    return this.#bytes.toString('utf8', at, at + size)
  }

  /** Goes over size bytes that begin at a multiple of alignment; returns where. */
  #take(alignment: number, size: number): number {
    const at = Math.ceil(this.#position / alignment) * alignment
    if (at + size > this.#bytes.length) {
      throw new DbusFormatError(`Cannot read ${size} bytes at ${at}: the message has ${this.#bytes.length}`)
    }
    this.#position = at + size
    return at
  }
}
