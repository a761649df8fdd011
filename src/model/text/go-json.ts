import { formatExactJson } from '../../base/document/exact-json.ts'

/**
 * JSON as Go prints it: the three characters that HTML would trip over and the two line separators of JavaScript are
 * escaped. Used wherever the text itself is compared or hashed by the Go kubelet.
 */
export function goJson(value: unknown): string {
  return formatExactJson(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
