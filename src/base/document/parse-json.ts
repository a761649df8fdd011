import { MAX_SCALAR_LENGTH, SyntaxProblem, tooLong } from './document-value.ts'
import type { DocumentValue, ParsedText, Segments } from './document-value.ts'
import { ParseBudget } from './parse-budget.ts'
import { PositionIndex, setKey } from './position-index.ts'

// A pod nests about ten deep; this is far beyond and far from the end of the stack.
const MAX_DEPTH = 200
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
// eslint-disable-next-line no-control-regex -- JSON forbids them in strings.
const CHARACTERS = /[^"\\\u0000-\u001f]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y
const WORD = /true|false|null/y
const SPACE = /[ \t\r\n]*/y

/**
 * Text of a JSON object → its value with positions. JSON.parse would round integers beyond 2^53, take the last of two equal
 * keys in silence and do not report where a value stands.
 */
export function parseJson(text: string, budget = new ParseBudget()): ParsedText {
  const reader = new JsonReader(text, budget)
  const start = reader.skipSpace()
  const value = reader.readValue(0)
  const end = reader.skipSpace()
  if (end < text.length) throw new SyntaxProblem('text after the JSON object, expected one object in a file', end)
  const { positions } = reader
  const offsetOf = (segments: Segments) => positions.find(value, segments, start)
  return { value, offsetOf, duplicates: positions.duplicates, secondAt: undefined }
}

class JsonReader {
  readonly positions = new PositionIndex()
  readonly #text: string
  readonly #budget: ParseBudget
  #offset = 0

  constructor(text: string, budget: ParseBudget) {
    this.#text = text
    this.#budget = budget
  }

  skipSpace(): number {
    this.#match(SPACE)
    return this.#offset
  }

  readValue(depth: number): DocumentValue {
    if (depth > MAX_DEPTH) throw this.#problem('nested too deeply')
    this.#budget.takeJsonValue(this.#offset)
    switch (this.#text[this.#offset]) {
      case '{':
        return this.#readObject(depth)
      case '[':
        return this.#readList(depth)
      case '"':
        return this.#readString()
      default:
        return this.#readWord()
    }
  }

  #readObject(depth: number): DocumentValue {
    const object = {}
    const offsets = new Map<string | number, number>()
    this.#readMembers('}', () => {
      const offset = this.#offset
      if (this.#text[offset] !== '"') throw this.#problem('expected a key in double quotes')
      const key = this.#readString()
      if (offsets.has(key)) this.positions.noteDuplicate(key, offset)
      offsets.set(key, offset)
      this.skipSpace()
      if (this.#text[this.#offset] !== ':') throw this.#problem('expected ":" after the key')
      this.#offset++
      this.skipSpace()
      setKey(
        object,
        key,
        this.positions.within(key, () => this.readValue(depth + 1)),
      )
    })
    this.positions.record(object, offsets)
    return object
  }

  #readList(depth: number): DocumentValue {
    const list: DocumentValue[] = []
    const offsets = new Map<string | number, number>()
    this.#readMembers(']', () => {
      offsets.set(list.length, this.#offset)
      list.push(this.positions.within(list.length, () => this.readValue(depth + 1)))
    })
    this.positions.record(list, offsets)
    return list
  }

  /** What stands between the brackets, separated by commas. */
  #readMembers(end: '}' | ']', readMember: () => void): void {
    this.#offset++
    this.skipSpace()
    if (this.#text[this.#offset] === end) {
      this.#offset++
      return
    }
    for (;;) {
      readMember()
      this.skipSpace()
      const separator = this.#text[this.#offset]
      if (separator !== ',' && separator !== end) throw this.#problem(`expected "," or "${end}"`)
      this.#offset++
      if (separator === end) return
      this.skipSpace()
    }
  }

  #readString(): string {
    const start = this.#offset
    this.#offset += 1
    // Step by step: one pattern for the whole string overflows the stack of the pattern engine.
    do this.#match(CHARACTERS)
    while (this.#match(ESCAPE) !== undefined)
    if (this.#text[this.#offset] !== '"') {
      this.#offset = start
      throw this.#problem('expected a complete string')
    }
    this.#offset += 1
    const length = this.#offset - start
    if (length > MAX_SCALAR_LENGTH) throw new SyntaxProblem(tooLong(length), start)
    // As Go does it, half of a surrogate pair becomes U+FFFD.
    return (JSON.parse(this.#text.slice(start, this.#offset)) as string).toWellFormed()
  }

  #readWord(): DocumentValue {
    const start = this.#offset
    const number = this.#match(NUMBER)
    if (number !== undefined) {
      const value = toNumber(number)
      if (value === Infinity || value === -Infinity)
        throw new SyntaxProblem(`${number} is larger than numbers can be`, start)
      return value
    }
    const word = this.#match(WORD)
    if (word === undefined) throw this.#problem('expected a JSON value')
    return JSON.parse(word) as DocumentValue
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#offset += found.length
    return found
  }

  #problem(rule: string): SyntaxProblem {
    const isAtEnd = this.#offset >= this.#text.length
    return new SyntaxProblem(isAtEnd ? `the text ends too early: ${rule}` : rule, this.#offset)
  }
}

/** A number exactly: integers beyond 2^53 become bigint. */
function toNumber(source: string): number | bigint {
  const number = Number(source)
  return /^-?\d+$/.test(source) && !Number.isSafeInteger(number) ? BigInt(source) : number
}
