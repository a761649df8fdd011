const VARINT = 0
const LENGTH_DELIMITED = 2

/** Writes one message of Protocol Buffers, field by field. */
export class ProtobufWriter {
  readonly #chunks: Uint8Array[] = []

  /** A whole number; negative ones take ten bytes, as the format has it. */
  number(field: number, value: number | bigint): void {
    this.#varint(field * 8 + VARINT)
    this.#varint(value)
  }

  text(field: number, value: string): void {
    this.bytes(field, Buffer.from(value))
  }

  /** A text, a message or other bytes. */
  bytes(field: number, value: Uint8Array): void {
    this.#varint(field * 8 + LENGTH_DELIMITED)
    this.#varint(value.length)
    this.#chunks.push(value)
  }

  /** A message whose fields are written by `write`. */
  message(field: number, write: (inner: ProtobufWriter) => void): void {
    const inner = new ProtobufWriter()
    write(inner)
    this.bytes(field, inner.finish())
  }

  finish(): Uint8Array {
    return Buffer.concat(this.#chunks)
  }

  #varint(value: number | bigint): void {
    // Nearly all there is: tags, and lengths of short texts.
    if (value >= 0 && value < 0x80) return void this.#chunks.push(Uint8Array.of(Number(value)))
    const bytes: number[] = []
    let rest = BigInt.asUintN(64, BigInt(value))
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
    bytes.push(Number(rest))
    this.#chunks.push(Uint8Array.from(bytes))
  }
}
