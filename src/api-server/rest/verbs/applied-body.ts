import type { DocumentObject, ParsedText } from '../../../base/document/document-value.ts'
import { SyntaxProblem } from '../../../base/document/document-value.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import { parseJson } from '../../../base/document/parse-json.ts'
import { parseYaml } from '../../../base/document/parse-yaml.ts'
import { badRequest } from '../../api-error.ts'
import { decodeText, fieldValidationOf, MAX_BODY_BYTES } from '../decode-body.ts'
import type { ResourceRequest } from '../resource-request.ts'

/** The body of an apply. */
interface AppliedBody {
  readonly value: DocumentObject
  /** Keys that are there twice, for clients that ask for them. */
  readonly warnings: readonly string[]
}

/** Reads what is applied: YAML, or JSON, which is YAML too. */
export async function readApplied({ request, info }: ResourceRequest): Promise<AppliedBody> {
  const mode = fieldValidationOf(info.query)
  const text = decodeText(await request.readBody(MAX_BODY_BYTES))
  const { value, duplicates } = parse(text)
  const lines = duplicates.map(({ segments, offset }) => {
    const line = text.slice(0, offset).split('\n').length
    return `line ${line}: key ${JSON.stringify(String(segments.at(-1)))} already set in map`
  })
  if (lines.length > 0 && mode === 'Strict') {
    throw badRequest(
      `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${lines.join('\n  ')}`,
    )
  }
  if (value !== null && !isRecord(value))
    throw badRequest('error decoding YAML: expected an object with apiVersion and kind')
  return { value: value ?? {}, warnings: mode === 'Warn' ? lines : [] }
}

function parse(text: string): ParsedText {
  try {
    // kubectl sends JSON, which needs no library to be read.
    if (text.startsWith('{')) return parseJson(text)
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
  }
  try {
    return parseYaml(text)
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    throw badRequest(`error decoding YAML: ${error.message} (at character ${error.offset})`, { cause: error })
  }
}
