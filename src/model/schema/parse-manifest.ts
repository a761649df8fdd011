import type { ParseBudget } from '../../base/document/parse-budget.ts'
import { parseText, TextError } from '../../base/document/parse-text.ts'
import type { LocatedText } from '../../base/document/parse-text.ts'
import type { Place } from '../../base/document/text-places.ts'
import { ManifestError } from './manifest-error.ts'

/** What a manifest says and where. */
export type LocatedManifest = Pick<LocatedText, 'value' | 'locate'>

/** Larger manifests are refused unread. Parity: pkg/kubelet/config maxConfigLength. */
export const MAX_MANIFEST_BYTES = 10 * 1024 * 1024

/** Files with more are refused unread. A node has a hundred pods. */
export const MAX_MANIFEST_DOCUMENTS = 500

/** Bytes of a JSON or YAML manifest → its value and positions; throws ManifestError for what is neither, or not clear. */
export function parseManifest(bytes: Uint8Array, budget?: ParseBudget): LocatedManifest {
  if (bytes.length > MAX_MANIFEST_BYTES)
    throw textError(`${bytes.length} bytes, expected at most ${MAX_MANIFEST_BYTES}`, { line: 1, column: 1 })
  const parsed = parse(bytes, budget)
  const [duplicate] = parsed.duplicates
  if (duplicate !== undefined)
    throw textError(`key ${JSON.stringify(duplicate.segments.at(-1))} is there twice`, duplicate)
  if (parsed.second !== undefined) {
    throw textError('a second document starts here, expected one in a file', parsed.second)
  }
  return parsed
}

function parse(bytes: Uint8Array, budget: ParseBudget | undefined): LocatedText {
  try {
    return parseText(bytes, budget)
  } catch (error) {
    if (!(error instanceof TextError)) throw error
    throw textError(error.message === 'empty' ? 'empty, expected a Pod' : error.message, error.place)
  }
}

function textError(rule: string, { line, column }: Place): ManifestError {
  return new ManifestError([{ path: '', rule, line, column }])
}
