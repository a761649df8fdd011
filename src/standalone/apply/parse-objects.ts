import type { DocumentValue } from '../../base/document/document-value.ts'
import { parseText, TextError } from '../../base/document/parse-text.ts'
import type { AppliedObject } from './applied-object.ts'

/** A file that cannot be applied, with its line. */
class ObjectsError extends Error {
  override readonly name = 'ObjectsError'
}

const SEPARATOR = /^---(?:\s.*)?$/

/** The objects of a file: JSON or YAML, several documents, lists of objects. Nothing of a file with a fault is used. */
export function parseObjects(bytes: Uint8Array): readonly AppliedObject[] {
  return splitDocuments(Buffer.from(bytes).toString('utf8')).flatMap(({ text, line }) => parseDocument(text, line))
}

function splitDocuments(text: string): readonly { readonly text: string; readonly line: number }[] {
  const documents: { text: string; line: number }[] = []
  let lines: string[] = []
  let start = 0
  const end = (next: number) => {
    // A document of comments alone says nothing.
    if (lines.some((line) => line.trim() !== '' && !line.trimStart().startsWith('#')))
      documents.push({ text: lines.join('\n'), line: start })
    lines = []
    start = next
  }
  for (const [index, line] of text.split('\n').entries()) {
    if (SEPARATOR.test(line.trimEnd())) end(index + 1)
    else lines.push(line)
  }
  end(0)
  return documents
}

function parseDocument(text: string, line: number): readonly AppliedObject[] {
  try {
    const parsed = parseText(Buffer.from(text))
    const [duplicate] = parsed.duplicates
    if (duplicate !== undefined) throw new TextError(`the key "${duplicate.segments.at(-1)}" is there twice`, duplicate)
    return toObjects(parsed.value, (path) => parsed.locate(path).line + line, [])
  } catch (error) {
    if (!(error instanceof TextError)) throw error
    throw new ObjectsError(`line ${error.place.line + line}: ${error.message}`, { cause: error })
  }
}

function toObjects(
  value: DocumentValue,
  lineOf: (path: readonly (string | number)[]) => number,
  path: readonly (string | number)[],
): readonly AppliedObject[] {
  const fail = (problem: string, at: readonly (string | number)[] = []) => {
    throw new ObjectsError(`line ${lineOf([...path, ...at])}: ${problem}`)
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return fail('expected an object')
  const object = value as Readonly<Record<string, DocumentValue>>
  const { apiVersion, kind, metadata, items } = object
  if (typeof apiVersion !== 'string' || apiVersion === '') return fail('apiVersion is missing')
  if (typeof kind !== 'string' || kind === '') return fail('kind is missing')
  if (kind.endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item: DocumentValue, index) => toObjects(item, lineOf, [...path, 'items', index]))
  }
  const { name } = (metadata ?? {}) as Readonly<Record<string, DocumentValue>>
  if (typeof name !== 'string' || name === '') return fail('metadata.name is missing', ['metadata'])
  return [value as unknown as AppliedObject]
}
