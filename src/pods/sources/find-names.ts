import { isRecord } from '../../base/document/is-record.ts'
import { parseText, TextError } from '../../base/document/parse-text.ts'
import { splitDocuments } from '../../base/document/split-documents.ts'

/** The names of the objects in a manifest that is refused, as in "default/web"; what cannot be read has none. */
export function findNames(bytes: Uint8Array): readonly string[] {
  return splitDocuments(Buffer.from(bytes).toString('utf8')).flatMap(({ text }) => {
    try {
      const { value } = parseText(Buffer.from(text))
      const metadata = isRecord(value) ? value['metadata'] : undefined
      const { name, namespace } = isRecord(metadata) ? metadata : {}
      if (typeof name !== 'string' || name === '') return []
      return [`${typeof namespace === 'string' && namespace !== '' ? namespace : 'default'}/${name}`]
    } catch (error) {
      if (error instanceof TextError) return []
      throw error
    }
  })
}
