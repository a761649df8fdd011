/**
 * A source map in a form in which one place is found without reading all others: JSON of 5 MB takes 100 ms to parse, which is most of what a start costs, and
 * grpc-js asks for the stack of each call that fails.
 */

interface SourceMapText {
  readonly sources: readonly string[]
  readonly mappings: string
}

/** Lines and columns begin at 1, as in stacks. */
export interface Place {
  readonly source: string
  readonly line: number
  readonly column: number
}

// Line and column in the script, line and column in the source; the number of the source is above the column.
const FIELDS = 4
const SOURCE_SHIFT = 16
const MOST_COLUMN = 0xff_ff
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const DIGIT_BITS = 5
const CONTINUES = 32

/** The table of a source map. */
export function encodeLineTable({ sources, mappings }: SourceMapText): Buffer {
  const numbers = new Uint32Array(listNumbers(mappings))
  const names = Buffer.from(JSON.stringify(sources))
  const head = Buffer.alloc(4)
  head.writeUInt32LE(names.length)
  return Buffer.concat([head, Buffer.from(numbers.buffer), names])
}

/** Finds places in the sources. */
export class LineTable {
  readonly #sources: readonly string[]
  readonly #numbers: Uint32Array

  constructor(bytes: Buffer) {
    const end = bytes.length - bytes.readUInt32LE(0)
    this.#sources = JSON.parse(bytes.toString('utf8', end)) as readonly string[]
    // A copy: numbers begin at a multiple of four.
    this.#numbers = new Uint32Array(new Uint8Array(bytes.subarray(4, end)).buffer)
  }

  /** Where a place of the script comes from; undefined for what no source has. */
  find(line: number, column: number): Place | undefined {
    const at = this.#findLast(line - 1, column - 1)
    if (at < 0 || this.#field(at, 0) !== line - 1) return undefined
    const packed = this.#field(at, 3)
    const source = this.#sources[packed >>> SOURCE_SHIFT]
    if (source === undefined) return undefined
    // What follows a known place is as far behind it in the source.
    const begin = (packed & MOST_COLUMN) - this.#field(at, 1)
    return { source, line: this.#field(at, 2) + 1, column: begin + column }
  }

  /** The last row that is not behind the place; below 0 if all are. */
  #findLast(line: number, column: number): number {
    let [low, high] = [0, this.#numbers.length / FIELDS]
    while (low < high) {
      const middle = (low + high) >>> 1
      const isBehind = this.#field(middle, 0) - line || this.#field(middle, 1) - column
      if (isBehind > 0) high = middle
      else low = middle + 1
    }
    return low - 1
  }

  #field(row: number, field: number): number {
    return this.#numbers[row * FIELDS + field] ?? 0
  }
}

/** The rows of the table, from the differences that a source map has. */
function listNumbers(mappings: string): number[] {
  const numbers: number[] = []
  let [source, line, column] = [0, 0, 0]
  for (const [scriptLine, text] of mappings.split(';').entries()) {
    let scriptColumn = 0
    for (const segment of text.split(',')) {
      const [ofScript = 0, ofSource, ofLine = 0, ofColumn = 0] = decodeNumbers(segment)
      scriptColumn += ofScript
      if (ofSource === undefined) continue
      source += ofSource
      line += ofLine
      column += ofColumn
      numbers.push(scriptLine, scriptColumn, line, (source << SOURCE_SHIFT) | Math.min(column, MOST_COLUMN))
    }
  }
  return numbers
}

/** Numbers in base 64, least digits first, the sign in the last bit. */
function decodeNumbers(segment: string): readonly number[] {
  const numbers: number[] = []
  let [value, shift] = [0, 0]
  for (const character of segment) {
    const digit = ALPHABET.indexOf(character)
    value += (digit & (CONTINUES - 1)) << shift
    shift += DIGIT_BITS
    if (digit >= CONTINUES) continue
    numbers.push(value & 1 ? -(value >> 1) : value >> 1)
    value = shift = 0
  }
  return numbers
}
