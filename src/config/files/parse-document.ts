import type { Document, LineCounter, Node, Pair, YAMLMap } from 'yaml'
import type { Json, JsonObject } from './json-value.ts'
import { isJsonObject } from './json-value.ts'
import { resolveScalar } from './resolve-scalar.ts'

/** Something at a line of a file. */
interface Located {
  readonly path: string
  readonly line: number
}

/** A file decoded to JSON, with what the JSON no longer shows. */
export interface ParsedDocument {
  readonly root: JsonObject
  readonly duplicates: readonly Located[]
  /** The line of a field, by its path such as "logging.format". */
  readonly lines: ReadonlyMap<string, number>
  /** True when the file has more documents than the one that counts. */
  readonly hasMore: boolean
}

// A configuration has a few hundred values. The bounds stop a file of aliases of aliases and one of endless brackets.
const MOST_VALUES = 100_000
const DEEPEST = 64

type Yaml = typeof import('yaml')

/** Turns the syntax tree of one document into JSON. */
class Converter {
  readonly duplicates: Located[] = []
  readonly lines = new Map<string, number>()
  readonly #yaml: Yaml
  readonly #document: Document
  readonly #lineCounter: LineCounter
  #values = 0

  constructor(yaml: Yaml, document: Document, lineCounter: LineCounter) {
    this.#yaml = yaml
    this.#document = document
    this.#lineCounter = lineCounter
  }

  convert(node: unknown, path: string, depth: number): Json {
    const { isAlias, isMap, isScalar, isSeq } = this.#yaml
    this.#values += 1
    if (this.#values > MOST_VALUES || depth > DEEPEST) {
      throw new Error(`expected at most ${MOST_VALUES} values, aliases counted in full, and ${DEEPEST} levels`)
    }
    if (isAlias(node)) return this.convert(this.#resolve(node), path, depth + 1)
    if (isMap(node)) return this.#convertMap(node, path, depth)
    if (isSeq(node)) return node.items.map((item, index) => this.convert(item, `${path}[${index}]`, depth + 1))
    if (!isScalar(node)) return null
    const isText = node.type !== 'PLAIN' || node.tag === 'tag:yaml.org,2002:str'
    return isText ? String(node.value) : resolveScalar(String(node.value))
  }

  #resolve(alias: Parameters<Yaml['isAlias']>[0]): Node {
    const target = this.#yaml.isAlias(alias) ? alias.resolve(this.#document) : undefined
    if (target === undefined) throw new Error('expected every alias to have its anchor')
    return target
  }

  #convertMap(map: YAMLMap, path: string, depth: number): JsonObject {
    const own = new Map<string, Json>()
    const merged = new Map<string, Json>()
    for (const pair of map.items) {
      const key = this.#keyOf(pair)
      const at = path === '' ? key : `${path}.${key}`
      const value = this.convert(pair.value, at, depth + 1)
      if (key === '<<') {
        for (const [name, part] of mergedEntries(value)) if (!merged.has(name)) merged.set(name, part)
        continue
      }
      const line = this.#lineOf(pair)
      if (own.has(key)) this.duplicates.push({ path: at, line })
      this.lines.set(at, line)
      own.set(key, value)
    }
    return merged.size === 0 ? own : new Map([...merged, ...own])
  }

  #keyOf(pair: Pair): string {
    if (!this.#yaml.isScalar(pair.key)) throw new Error('expected plain texts as keys')
    return String(pair.key.value)
  }

  #lineOf(pair: Pair): number {
    const offset = this.#yaml.isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0
    return this.#lineCounter.linePos(offset).line
  }
}

/** What a "<<" brings in: the entries of an object, or of each object of a list, the first winning. */
function mergedEntries(value: Json): readonly (readonly [string, Json])[] {
  if (Array.isArray(value)) return value.flatMap((part: Json) => mergedEntries(part))
  if (!isJsonObject(value)) throw new Error('expected an object behind "<<"')
  return [...value]
}

/** YAML or JSON to a document; throws an Error that says what was expected where. */
export async function parseDocument(bytes: Uint8Array): Promise<ParsedDocument> {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  // Loaded when needed: it is a sixth of the time that the agent has to start.
  const yaml = await import('yaml')
  const lineCounter = new yaml.LineCounter()
  const parsed = yaml.parseAllDocuments(text, { schema: 'failsafe', uniqueKeys: false, merge: false, lineCounter })
  const documents = Array.isArray(parsed) ? parsed : []
  const [document] = documents
  if (document === undefined || document.contents === null)
    throw new Error('expected a configuration, the file is empty')
  const [error] = document.errors
  if (error !== undefined) throw new Error(`expected YAML or JSON: ${error.message.split('\n')[0]?.replace(/:$/, '')}`)
  const converter = new Converter(yaml, document, lineCounter)
  const root = converter.convert(document.contents, '', 0)
  if (root === null) throw new Error('expected a configuration, the file is empty')
  if (!isJsonObject(root)) throw new Error('expected an object')
  const hasMore = documents.slice(1).some((other) => other.contents !== null)
  return { root, duplicates: converter.duplicates, lines: converter.lines, hasMore }
}
