import { toErrorText } from '../format.ts'
/** One object of a file: what it is, and the text of it as it goes to the server. */
export interface FileObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** As it is written; empty when it is not. */
  readonly namespace: string
  readonly text: string
}

export type YamlParser = (text: string) => unknown

// As much as the server takes at once; what is larger is no manifest.
const MOST_BYTES = 3 * 1024 * 1024
const MOST_OBJECTS = 500
// With the rest of its line only where that is a comment.
const SEPARATOR = /^---(?=[ \t]|$)(?:[ \t]*(?:#.*)?$)?/m

/** The objects of a file of YAML or JSON, in their order, lists taken apart. Throws an error that says where it is wrong. */
export function parseFileObjects(text: string, parse: YamlParser): readonly FileObject[] {
  if (text.length > MOST_BYTES) throw new Error(`Expected at most ${MOST_BYTES} characters, there are ${text.length}`)
  const documents = text.replaceAll('\r\n', '\n').split(SEPARATOR)
  const objects = documents.flatMap((document, index) => {
    if (document.replaceAll(/^\s*(?:#.*|\.\.\.)?$/gm, '').trim() === '') return []
    const where = documents.length > 1 ? `Document ${index + 1}` : 'The text'
    return toObjects(parseDocument(document, where, parse), where, document)
  })
  if (objects.length > MOST_OBJECTS)
    throw new Error(`Expected at most ${MOST_OBJECTS} objects, there are ${objects.length}`)
  return objects
}

function parseDocument(document: string, where: string, parse: YamlParser): unknown {
  try {
    return parse(document)
  } catch (error) {
    throw new Error(`${where} is no YAML: ${toErrorText(error)}`, { cause: error })
  }
}

function toObjects(value: unknown, where: string, text: string): readonly FileObject[] {
  const { apiVersion, kind, metadata, items } = (value ?? {}) as Readonly<Record<string, unknown>>
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw new Error(`${where} is no object of Kubernetes: expected apiVersion and kind`)
  if (kind.endsWith('List') && Array.isArray(items))
    return items.flatMap((item, index) => toObjects(item, `${where}, item ${index + 1}`, JSON.stringify(item)))
  const { name, namespace = '' } = (metadata ?? {}) as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || name === '') throw new Error(`${where} (${kind}) has no metadata.name`)
  return [{ apiVersion, kind, name, namespace: typeof namespace === 'string' ? namespace : '', text }]
}
