import { ManifestError } from './manifest-error.ts'
import { SyntaxProblem } from './manifest-value.ts'
import type { ManifestValue } from './manifest-value.ts'
import { parseJson } from './parse-json.ts'
import { parseYaml } from './parse-yaml.ts'

/** Parse result with positions as people count them. */
export interface LocatedManifest {
  readonly value: ManifestValue
  locate(segments: readonly (string | number)[]): { readonly line: number; readonly column: number }
}

/** Larger manifests are refused unread. Parity: pkg/kubelet/config maxConfigLength. */
export const MAX_MANIFEST_BYTES = 10 * 1024 * 1024

/** Bytes of a JSON or YAML manifest → its value and positions; throws ManifestError for what is neither. */
export function parseManifest(bytes: Uint8Array): LocatedManifest {
  if (bytes.length > MAX_MANIFEST_BYTES)
    throw textError(`${bytes.length} bytes, expected at most ${MAX_MANIFEST_BYTES}`)
  const text = decodeUtf8(bytes)
  try {
    const parsed = /^\s*\{/.test(text) ? parseJson(text) : parseYaml(text)
    return { value: parsed.value, locate: (segments) => positionOf(text, parsed.offsetOf(segments)) }
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    throw textError(error.message, positionOf(text, error.offset))
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw textError('not UTF-8 text', firstBadLine(bytes))
  }
  const binary = text.search(CONTROL_CHARACTER)
  if (binary >= 0) throw textError('binary data, expected YAML or JSON text', positionOf(text, binary))
  if (text.trim() === '') throw textError('empty, expected a Pod')
  return text
}

// eslint-disable-next-line no-control-regex -- These are what tells binary data from text.
const CONTROL_CHARACTER = /[\u0000-\u0008\u000e-\u001f\u007f]/

/** The line that holds the first byte which is not UTF-8. */
function firstBadLine(bytes: Uint8Array): { line: number; column: number } {
  const lossy = new TextDecoder('utf-8').decode(bytes)
  return positionOf(lossy, Math.max(0, lossy.indexOf('\ufffd')))
}

function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: before.length - lineStart + 1 }
}

function textError(rule: string, position = { line: 1, column: 1 }): ManifestError {
  return new ManifestError([{ path: '', rule, ...position }])
}
