import type { DocumentValue } from './document-value.ts'

const WORDS: ReadonlyMap<string, boolean | null> = new Map(
  (
    [
      [true, 'y Y yes Yes YES true True TRUE on On ON'],
      [false, 'n N no No NO false False FALSE off Off OFF'],
      [null, '~ null Null NULL'],
    ] as const
  ).flatMap(([value, words]) => words.split(' ').map((word) => [word, value] as const)),
)
const INTEGER = /^[-+]?(?:0[xX][\da-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9]\d*)$/
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/

/**
 * What a plain (unquoted) YAML scalar means to the Go API machinery, which reads YAML 1.1: yes/no/on/off and y/n are
 * booleans, 0777 and 0o777 are octal, underscores in numbers are skipped, dates stay text.
 */
export function toYamlScalar(source: string): DocumentValue {
  if (source === '') return null
  const word = WORDS.get(source)
  if (word !== undefined) return word
  if (!/^[-+.\d]/.test(source)) return source
  const plain = source.replaceAll('_', '')
  if (INTEGER.test(plain)) return toInteger(plain)
  const float = FLOAT.test(plain) ? Number(plain) : Infinity
  // One that is too large for a number is text to Go.
  return Number.isFinite(float) ? float : source
}

function toInteger(plain: string): number | bigint {
  const isNegative = plain.startsWith('-')
  const digits = plain.replace(/^[-+]/, '')
  const magnitude = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits.toLowerCase())
  const value = isNegative ? -magnitude : magnitude
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
}
