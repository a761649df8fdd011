import { parseGoInteger } from '../values/go-scalars.ts'
import type { Json } from './json-value.ts'

const NULL = /^(?:~|null|Null|NULL)?$/
const TRUE = /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/
const FALSE = /^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/
const NOT_FINITE = /^[-+]?\.(?:inf|Inf|INF|nan|NaN|NAN)$/

/** A YAML scalar without quotes to its value, by the rules of Go's parser: "no" is false and 010 is eight. */
export function resolveScalar(text: string): Json {
  if (NULL.test(text)) return null
  if (TRUE.test(text)) return true
  if (FALSE.test(text)) return false
  const integer = parseGoInteger(text)
  if (integer !== undefined) return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer
  if (NOT_FINITE.test(text)) throw new Error(`expected a finite number instead of ${text}`)
  return FLOAT.test(text) ? Number(text) : text
}
