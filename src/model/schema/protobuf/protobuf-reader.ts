/** Bytes that are no message of Protocol Buffers. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError'
}

/** A number (varint), or the bytes of everything else. */
export type WireValue = bigint | Uint8Array

/** The fields of a message in their order, by number. */
export function readMessage(bytes: Uint8Array): readonly (readonly [number: number, value: WireValue])[] {
  const reader = new Reader(bytes)
  const fields: [number, WireValue][] = []
  while (!reader.isAtEnd) {
    const tag = Number(reader.varint())
    const number = Math.floor(tag / 8)
    if (number < 1 || number >= 2 ** 29) throw new ProtobufError('a field has an impossible number')
    fields.push([number, reader.value(tag % 8)])
  }
  return fields
}

/** Numbers that stand in one field, one after the other. */
export function readVarints(bytes: Uint8Array): readonly bigint[] {
  const reader = new Reader(bytes)
  const numbers: bigint[] = []
  while (!reader.isAtEnd) numbers.push(reader.varint())
  return numbers
}

class Reader {
  readonly #bytes: Uint8Array
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#offset >= this.#bytes.length
  }

  value(wireType: number): WireValue {
    switch (wireType) {
      case 0:
        return this.varint()
      case 1:
        return this.#take(8)
      case 2:
        return this.#take(Number(this.varint()))
      case 5:
        return this.#take(4)
      default:
        throw new ProtobufError('a field is of a kind that is not used')
    }
  }

  varint(): bigint {
    let number = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#offset++]
      if (byte === undefined) throw new ProtobufError('the message ends too early')
      number |= BigInt(byte & 0x7f) << shift
      if ((byte & 0x80) === 0) return BigInt.asUintN(64, number)
    }
    throw new ProtobufError('a number is too long')
  }

  #take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#offset) throw new ProtobufError('the message ends too early')
    this.#offset += length
    return this.#bytes.subarray(this.#offset - length, this.#offset)
  }
}
