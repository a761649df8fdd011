import type { DocumentValue, Segments } from '../../../base/document/document-value.ts'
import { parseText, TextError } from '../../../base/document/parse-text.ts'
import type { LocatedText } from '../../../base/document/parse-text.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import { isJsonObject } from './json-value.ts'
import type { Json, JsonObject } from './json-value.ts'

/** Something at a line of a file. */
interface Located {
  readonly path: string
  readonly line: number
}

interface FoundField {
  readonly line: number
  readonly isObject: boolean
}

/** A file decoded to JSON, with what the JSON no longer shows. */
export interface ParsedDocument {
  readonly root: JsonObject
  readonly duplicates: readonly Located[]
  /** The line of a field, by its path such as "logging.format". */
  readonly lineOf: (path: string) => number | undefined
  /** The same, with what it is, and if wanted whatever the case of the letters. */
  readonly find: (path: string, ignoresCase: boolean) => FoundField | undefined
  /** True when the file has more documents than the one that counts. */
  readonly hasMore: boolean
}

/** YAML or JSON to a document; throws an Error that says what was expected where. */
export function parseDocument(bytes: Uint8Array): ParsedDocument {
  const parsed = parse(bytes)
  const fields = new Map<string, NotedField>()
  const root = toJson(parsed.value, [], fields)
  const find = (path: string, ignoresCase: boolean) => {
    const name = path.toLowerCase()
    const exact = fields.get(path)
    const field = exact ?? (ignoresCase ? [...fields].find(([each]) => each.toLowerCase() === name)?.[1] : undefined)
    return field && { line: parsed.locate(field.segments).line, isObject: field.isObject }
  }
  if (root === null) throw new Error('expected a configuration, the file is empty')
  if (!isJsonObject(root)) throw new Error('expected an object')
  return {
    root,
    duplicates: parsed.duplicates.map(({ segments, line }) => ({ path: toPath(segments), line })),
    lineOf: (path) => find(path, false)?.line,
    find,
    hasMore: parsed.second !== undefined,
  }
}

function parse(bytes: Uint8Array): LocatedText {
  try {
    return parseText(bytes)
  } catch (error) {
    if (!(error instanceof TextError)) throw error
    if (error.message === 'empty') throw new Error('expected a configuration, the file is empty', { cause: error })
    throw new Error(`expected YAML or JSON: ${error.message} at line ${error.place.line}`, { cause: error })
  }
}

interface NotedField {
  readonly segments: Segments
  readonly isObject: boolean
}

/** Objects become maps, so that every key is one like any other. Notes where the fields stand. */
function toJson(value: DocumentValue, segments: Segments, fields: Map<string, NotedField>): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return value.map((part: DocumentValue, index) => toJson(part, [...segments, index], fields))
  }
  return new Map(
    Object.entries(value).map(([key, part]) => {
      const at = [...segments, key]
      fields.set(toPath(at), { segments: at, isObject: isRecord(part) })
      return [key, toJson(part, at, fields)]
    }),
  )
}

/** The line of a field, or of the nearest field above it: a list item has no line of its own. */
export function nearestLine({ lineOf }: ParsedDocument, field: string): number {
  for (let path = field; path !== ''; path = path.replace(/[.[]?[^.[]*$/, '')) {
    const line = lineOf(path)
    if (line !== undefined) return line
  }
  return 1
}

/** As problems name it: evictionSoft.x or reservedMemory[0].limits. */
function toPath(segments: Segments): string {
  return segments.reduce<string>((path, part) => {
    if (typeof part === 'number') return `${path}[${part}]`
    return path === '' ? part : `${path}.${part}`
  }, '')
}
