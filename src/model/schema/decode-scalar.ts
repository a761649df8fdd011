import { formatQuantity, roundToMilli, tryParseQuantity } from '../resources/quantity.ts'
import type { DocumentValue } from '../../base/document/document-value.ts'
import type { ScalarName } from './object-type.ts'

/** Either the value as the API holds it, or what was expected instead of what is there. */
type Decoded = { readonly value: unknown } | { readonly expected: string }

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const INT64 = 'a whole number of 64 bits, written in digits'
const MAX_INT32 = 2 ** 31 - 1

const decoders: Readonly<Record<ScalarName, (value: DocumentValue) => Decoded>> = {
  string: (value) => (typeof value === 'string' ? { value } : { expected: 'a string' }),
  boolean: (value) => (typeof value === 'boolean' ? { value } : { expected: 'true or false' }),
  number: (value) => (typeof value === 'number' ? { value } : { expected: 'a number' }),
  int32: decodeInt32,
  int64: decodeInt64,
  IntOrString: (value) => (typeof value === 'string' ? { value } : decodeInt32(value, 'a whole number or a string')),
  Quantity: decodeQuantity,
  Time: (value) =>
    typeof value === 'string' && RFC3339.test(value) && !Number.isNaN(Date.parse(value))
      ? { value }
      : { expected: 'a time such as 2026-01-31T12:00:00Z' },
  bytes: (value) => (typeof value === 'string' && BASE64.test(value) ? { value } : { expected: 'base64 text' }),
  any: (value) => ({ value }),
}

/** One value of a scalar type → as the API holds it. Nothing is converted except amounts, which have one spelling. */
export function decodeScalar(value: DocumentValue, name: ScalarName): Decoded {
  return decoders[name](value)
}

/** What Go holds where nothing was written. */
export function zeroScalar(name: ScalarName): unknown {
  if (name === 'boolean') return false
  if (name === 'int32' || name === 'int64' || name === 'number' || name === 'IntOrString') return 0
  if (name === 'any') return null
  return name === 'Quantity' ? '0' : ''
}

function decodeInt32(value: DocumentValue, expected = 'a whole number'): Decoded {
  if (typeof value === 'bigint') return { expected: `${expected} of 32 bits` }
  if (typeof value !== 'number' || !Number.isInteger(value)) return { expected }
  return value > MAX_INT32 || value < -MAX_INT32 - 1 ? { expected: `${expected} of 32 bits` } : { value }
}

/** Exact: beyond 2^53 it is a bigint. A number there is one that was written with an exponent. */
function decodeInt64(value: DocumentValue): Decoded {
  if (typeof value === 'bigint') return value === BigInt.asIntN(64, value) ? { value } : { expected: INT64 }
  if (typeof value !== 'number' || !Number.isInteger(value)) return { expected: 'a whole number' }
  return Number.isSafeInteger(value) ? { value } : { expected: INT64 }
}

function decodeQuantity(value: DocumentValue): Decoded {
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
  const quantity = isText ? tryParseQuantity(String(value).trim()) : undefined
  if (quantity === undefined) return { expected: 'an amount such as 100m, 1.5 or 2Gi' }
  return { value: formatQuantity(roundToMilli(quantity)) }
}
