import { createRequire } from 'node:module'
import { extname } from 'node:path'
import type { Node, Pair, ParsedNode, Scalar, YAMLMap } from 'yaml'
import { MAX_SCALAR_LENGTH, SyntaxProblem, tooLong } from './document-value.ts'
import type { DocumentObject, DocumentValue, ParsedText, Segments } from './document-value.ts'
import { ParseBudget } from './parse-budget.ts'
import { PositionIndex, setKey } from './position-index.ts'
import { toYamlScalar } from './yaml-scalar.ts'

const MAX_DEPTH = 200

// Go's parser knows these as floats, and cannot pass them on as JSON.
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
// Any escape, so that an escaped backslash is passed over; the first group is half of a surrogate pair.
const ESCAPE = /\\(?:((?:u|U0000)[dD][89a-fA-F][\da-fA-F]{2})|[^])/g

// What no YAML may have, in the words of Go's parser.
const FORBIDDEN = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

type Yaml = typeof import('./yaml-library.ts')
// Loading takes some 20 ms, which a node with JSON manifests, or with none, need not spend. Built, it is a program of its own (tools/build.ts) beside this one.
const LIBRARY = `./yaml-library${extname(import.meta.filename)}`
const requireYaml = createRequire(import.meta.url)
let loaded: Yaml | undefined

/** Text of a YAML document → its value with positions, by the rules of the Go API machinery (YAML 1.1). */
export function parseYaml(text: string, budget = new ParseBudget()): ParsedText {
  const forbidden = text.search(FORBIDDEN)
  if (forbidden >= 0) throw new SyntaxProblem('control characters are not allowed', forbidden)
  loaded ??= requireYaml(LIBRARY) as Yaml
  const { root, secondAt } = composeOne(loaded, text, budget)
  const builder = new ValueBuilder(loaded, text, budget)
  const value = builder.build(root, 0)
  const start = root?.range?.[0] ?? 0
  const { positions } = builder
  const offsetOf = (segments: Segments) => positions.find(value, segments, start)
  return { value, offsetOf, duplicates: positions.duplicates, secondAt }
}

/** The first document that has something in it, and where another one begins. */
function composeOne(
  yaml: Yaml,
  text: string,
  budget: ParseBudget,
): { root: Node | null; secondAt: number | undefined } {
  // Every scalar stays text: its meaning is decided here, not by YAML 1.2. Equal keys are found here too, in linear time.
  const composer = new yaml.Composer({ schema: 'failsafe', uniqueKeys: false })
  let root: Node | null | undefined
  try {
    for (const document of composer.compose(boundedTokens(yaml, text, budget), true, text.length)) {
      const isNothing = document.contents === null || isEmpty(yaml, document.contents)
      if (root !== undefined && !isNothing) return { root, secondAt: document.range[0] }
      const [error] = document.errors
      if (error !== undefined) throw new SyntaxProblem(toRule(error.message), error.pos[0])
      if (isNothing) continue
      root = document.contents
    }
  } catch (error) {
    // The composer calls itself for each level of nesting.
    if (error instanceof RangeError) throw new SyntaxProblem('nested too deeply', 0)
    throw error
  }
  return { root: root ?? null, secondAt: undefined }
}

/** A document of comments alone, as between two "---". */
function isEmpty(yaml: Yaml, node: Node): boolean {
  return yaml.isScalar(node) && node.source === '' && node.anchor === undefined && node.tag === undefined
}

function* boundedTokens(yaml: Yaml, text: string, budget: ParseBudget) {
  const parser = new yaml.Parser()
  let offset = 0
  let depth = 0
  for (const lexeme of new yaml.Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') depth++
    else if (lexeme === ']' || lexeme === '}') depth--
    if (depth > MAX_DEPTH) throw new SyntaxProblem('nested too deeply', offset)
    if (lexeme.length > MAX_SCALAR_LENGTH && !lexeme.startsWith('#'))
      throw new SyntaxProblem(tooLong(lexeme.length), offset)
    budget.takeToken(offset)
    if (lexeme.startsWith('"')) budget.takeQuoted(lexeme.length, offset)
    yield* parser.next(lexeme)
    offset = parser.offset
  }
  yield* parser.end()
}

/** The parser's message without its own account of the place. */
function toRule(message: string): string {
  const rule = message.replace(/ at line \d+, column \d+:[\s\S]*$/, '').replace(/\n[\s\S]*$/, '')
  return rule.startsWith('Maximum call stack') ? 'nested too deeply' : rule
}

interface Anchored {
  readonly value: DocumentValue
  readonly size: number
}

class ValueBuilder {
  readonly positions = new PositionIndex()
  readonly #yaml: Yaml
  readonly #text: string
  readonly #budget: ParseBudget
  readonly #anchors = new Map<string, Anchored | 'open'>()
  #size = 0

  constructor(yaml: Yaml, text: string, budget: ParseBudget) {
    this.#yaml = yaml
    this.#text = text
    this.#budget = budget
  }

  build(node: Node | ParsedNode | null, depth: number): DocumentValue {
    if (node === null) return null
    if (depth > MAX_DEPTH) throw new SyntaxProblem('nested too deeply', startOf(node))
    if (this.#yaml.isAlias(node)) return this.#repeat(node.source, startOf(node))
    const anchor = this.#yaml.isCollection(node) || this.#yaml.isScalar(node) ? node.anchor : undefined
    if (anchor === undefined) return this.#buildOne(node, depth)
    this.#anchors.set(anchor, 'open')
    const before = this.#size
    const value = this.#buildOne(node, depth)
    this.#anchors.set(anchor, { value, size: this.#size - before })
    return value
  }

  #buildOne(node: Node, depth: number): DocumentValue {
    this.#size++
    if (this.#yaml.isMap(node)) return this.#buildMap(node, depth)
    if (this.#yaml.isSeq<Node | null>(node)) {
      const offsets = new Map<string | number, number>()
      const list = node.items.map((item, index) => {
        offsets.set(index, item === null ? startOf(node) : startOf(item))
        return this.positions.within(index, () => this.build(item, depth + 1))
      })
      this.positions.record(list, offsets)
      return list
    }
    return this.#yaml.isScalar(node) ? this.#toScalar(node) : null
  }

  #buildMap(node: YAMLMap, depth: number): DocumentObject {
    const object = {}
    const offsets = new Map<string | number, number>()
    const own = new Set<string>()
    for (const { key, value } of node.items as readonly Pair<Node, Node | null>[]) {
      const offset = startOf(key)
      if (this.#isMerge(key)) {
        this.#merge(object, offsets, this.build(value, depth + 1), offset)
        continue
      }
      const name = this.#toKey(key, depth)
      if (own.has(name)) this.positions.noteDuplicate(name, offset)
      own.add(name)
      offsets.set(name, offset)
      setKey(
        object,
        name,
        this.positions.within(name, () => this.build(value, depth + 1)),
      )
    }
    this.positions.record(object, offsets)
    return object
  }

  #isMerge(key: Node): boolean {
    return this.#yaml.isScalar(key) && key.type === 'PLAIN' && key.source === '<<'
  }

  /** Copies what "<<" names. As in Go, what comes later in the text wins, be it the merge or a key. */
  #merge(object: object, offsets: Map<string | number, number>, value: DocumentValue, offset: number): void {
    // The first of several merged maps wins, so it comes last.
    const sources = Array.isArray(value) ? (value as readonly DocumentValue[]).toReversed() : [value]
    for (const source of sources) {
      if (typeof source !== 'object' || source === null || Array.isArray(source)) {
        throw new SyntaxProblem('"<<" merges something that is not a map', offset)
      }
      for (const [key, member] of Object.entries(source)) {
        offsets.set(key, offset)
        setKey(object, key, member)
      }
    }
  }

  #toKey(key: Node, depth: number): string {
    const value = this.build(key, depth + 1)
    if (typeof value === 'object') throw new SyntaxProblem('expected a key that is text', startOf(key))
    return String(value)
  }

  #repeat(anchor: string, offset: number): DocumentValue {
    const found = this.#anchors.get(anchor)
    if (found === undefined) throw new SyntaxProblem(`alias "*${anchor}" names no anchor before it`, offset)
    if (found === 'open') throw new SyntaxProblem(`anchor "&${anchor}" contains itself`, offset)
    this.#size += found.size
    this.#budget.takeAliasedValues(found.size, offset)
    return found.value
  }

  #toScalar(node: Scalar): DocumentValue {
    const source = node.source ?? ''
    if (node.type === 'QUOTE_DOUBLE') this.#checkEscapes(node)
    const tag = node.tag?.replace('tag:yaml.org,2002:', '!!')
    if (tag === '!!binary') return Buffer.from(source, 'base64').toString('utf8')
    const isPlain = node.type === 'PLAIN' && (tag === undefined || tag === '!!null')
    const isTyped = tag === '!!int' || tag === '!!float' || tag === '!!bool'
    if (!isPlain && !isTyped) return source
    if (NOT_FINITE.test(source)) throw new SyntaxProblem(`${source} is no number that JSON can hold`, startOf(node))
    return toYamlScalar(source)
  }

  /** As in Go, an escape names a whole character: also the two halves of a surrogate pair are none. */
  #checkEscapes(node: Scalar): void {
    const [start, end] = node.range ?? [0, 0]
    for (const { 1: half, index } of this.#text.slice(start, end).matchAll(ESCAPE))
      if (half !== undefined) throw new SyntaxProblem(`\\${half} is no Unicode character`, start + index)
  }
}

function startOf(node: Node): number {
  return node.range?.[0] ?? 0
}
