import type { DocumentValue } from '../../base/document/document-value.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { ParseBudget } from '../../base/document/parse-budget.ts'
import { parseText, TextError } from '../../base/document/parse-text.ts'
import { splitDocuments } from '../../base/document/split-documents.ts'
import { MAX_MANIFEST_DOCUMENTS } from '../../model/schema/parse-manifest.ts'

/** The names of the objects in a manifest that is refused, as in "default/web"; what cannot be read, or is too much, has none. */
export function findNames(bytes: Uint8Array): readonly string[] {
  const budget = new ParseBudget()
  return readOr([], () => splitDocuments(bytes, MAX_MANIFEST_DOCUMENTS)).flatMap((document) =>
    readOr([], () => nameOf(parseText(document.bytes, budget).value)),
  )
}

function readOr<T>(fallback: T, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof TextError) return fallback
    throw error
  }
}

function nameOf(value: DocumentValue): readonly string[] {
  const metadata = isRecord(value) ? value['metadata'] : undefined
  const { name, namespace } = isRecord(metadata) ? metadata : {}
  if (typeof name !== 'string' || name === '') return []
  return [`${typeof namespace === 'string' && namespace !== '' ? namespace : 'default'}/${name}`]
}
