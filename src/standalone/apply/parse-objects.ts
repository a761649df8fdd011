import { createTurns } from '../../base/async/next-turn.ts'
import { isRecord } from '../../base/document/is-record.ts'
import type { DocumentValue, Segments } from '../../base/document/document-value.ts'
import { parseText, TextError } from '../../base/document/parse-text.ts'
import { splitDocuments } from '../../base/document/split-documents.ts'
import type { SplitDocument } from '../../base/document/split-documents.ts'
import type { AppliedObject } from './applied-object.ts'

/** An object of a file, and the line where it begins. */
export interface LocatedObject {
  readonly object: AppliedObject
  readonly line: number
  /** The line of a field of the object, or of the nearest one above it. */
  readonly lineOf: (field: Segments) => number
}

/** A file that cannot be applied, with its line. */
class ObjectsError extends Error {
  override readonly name = 'ObjectsError'
}

// A whole cluster in one file has some thousands of objects.
const MAX_DOCUMENTS = 10_000
// What else the process does waits no longer than this, or as long as one document takes.
const TURN_MS = 20

/** The objects of a file: JSON or YAML, several documents, lists of objects. Nothing of a file with a fault is used. */
export async function parseObjects(bytes: Uint8Array): Promise<readonly LocatedObject[]> {
  const nextTurn = createTurns(TURN_MS)
  const objects: LocatedObject[] = []
  for (const document of split(bytes)) {
    for (const object of parseDocument(document)) objects.push(object)
    await nextTurn()
  }
  return objects
}

function split(bytes: Uint8Array): readonly SplitDocument[] {
  try {
    return splitDocuments(bytes, MAX_DOCUMENTS)
  } catch (error) {
    if (!(error instanceof TextError)) throw error
    throw new ObjectsError(`line ${error.place.line}: ${error.message}`, { cause: error })
  }
}

function parseDocument({ bytes, line }: SplitDocument): readonly LocatedObject[] {
  try {
    const parsed = parseText(bytes)
    if (parsed.second !== undefined)
      throw new TextError('a second document starts here, expected "---" before it', parsed.second)
    const [duplicate] = parsed.duplicates
    if (duplicate !== undefined) throw new TextError(`the key "${duplicate.segments.at(-1)}" is there twice`, duplicate)
    return toObjects(parsed.value, (path) => parsed.locate(path).line + line, [])
  } catch (error) {
    if (!(error instanceof TextError)) throw error
    throw new ObjectsError(`line ${error.place.line + line}: ${error.message}`, { cause: error })
  }
}

function toObjects(value: DocumentValue, lineOf: (path: Segments) => number, path: Segments): readonly LocatedObject[] {
  const fail = (problem: string, at: Segments = []) => {
    throw new ObjectsError(`line ${lineOf([...path, ...at])}: ${problem}`)
  }
  if (!isRecord(value)) return fail('expected an object')
  const { apiVersion, kind, metadata, items } = value
  if (typeof apiVersion !== 'string' || apiVersion === '') return fail('apiVersion is missing')
  if (typeof kind !== 'string' || kind === '') return fail('kind is missing')
  if (kind.endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item: DocumentValue, index) => toObjects(item, lineOf, [...path, 'items', index]))
  }
  const { name } = (metadata ?? {}) as Readonly<Record<string, DocumentValue>>
  if (typeof name !== 'string' || name === '') return fail('metadata.name is missing', ['metadata'])
  const ownLine = (field: Segments) => lineOf([...path, ...field])
  return [{ object: value as unknown as AppliedObject, line: lineOf(path), lineOf: ownLine }]
}
