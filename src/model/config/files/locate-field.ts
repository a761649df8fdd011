import type { ParsedDocument } from './parse-document.ts'

/** A file that the configuration was read from. */
export interface ConfigSource {
  readonly path: string
  readonly document: ParsedDocument
  /** As in drop-ins. */
  readonly ignoresCase: boolean
}

/** Where a field of the configuration stands: file and line; undefined when no file has it. The sources are in the order in which they apply. */
export function locateField(sources: readonly ConfigSource[], field: string): string | undefined {
  const path = toDocumentPath(field)
  const found = sources.toReversed().flatMap((source) => findIn(source, path))
  // A file that has an object around the field, but not the field, left the field to the others.
  const setter = found.find(({ isAround }) => !isAround) ?? found[0]
  return setter && `${setter.path} line ${setter.line}`
}

interface Found {
  readonly path: string
  readonly line: number
  readonly isAround: boolean
}

function findIn({ path, document, ignoresCase }: ConfigSource, field: string): readonly Found[] {
  for (const part of withParents(field)) {
    const found = document.find(part, ignoresCase)
    if (found !== undefined) return [{ path, line: found.line, isAround: part !== field && found.isObject }]
  }
  return []
}

/** The field, then what it is part of, from the inside out. */
function withParents(field: string): readonly string[] {
  const parts: string[] = []
  for (let path = field; path !== ''; path = path.replace(/[.[]?[^.[]*$/, '')) parts.push(path)
  return parts
}

/** Problems write the key of a map in brackets, as an index; a document does so with indices alone. */
function toDocumentPath(field: string): string {
  return field.replaceAll(/\[([^\]]*[^\]\d][^\]]*)\]/g, '.$1')
}
