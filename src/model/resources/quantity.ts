/** How a quantity was written, and so how it is printed again. */
type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent'

/** A Kubernetes quantity, exact: "1500m" is 1 500 000 000 nanos. */
export interface Quantity {
  readonly nanos: bigint
  readonly format: QuantityFormat
}

const NANOS_PER_UNIT = 1_000_000_000n
const NANOS_PER_MILLI = 1_000_000n
// What the API can hold; larger values mean "as much as there is" and are cut down to it.
const LARGEST_NANOS = (2n ** 63n - 1n) * NANOS_PER_UNIT
const LONGEST_TEXT = 256
// More than the digits of the longest text can make up for: a larger exponent cannot change the result.
const LARGEST_EXPONENT = 400

const DECIMAL_SUFFIXES: readonly (readonly [suffix: string, exponent: number])[] = [
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]
const BINARY_SUFFIXES: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const PATTERN = /^([+-]?)(\d+\.?\d*|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/

function multiplierOf(suffix: string): { scale: bigint; exponent: number; format: QuantityFormat } {
  const binary = BINARY_SUFFIXES.indexOf(suffix)
  if (binary > 0) return { scale: 1024n ** BigInt(binary), exponent: 0, format: 'BinarySI' }
  const decimal = DECIMAL_SUFFIXES.find(([name]) => name === suffix)
  if (decimal !== undefined) return { scale: 1n, exponent: decimal[1], format: 'DecimalSI' }
  const exponent = Math.max(-LARGEST_EXPONENT, Math.min(LARGEST_EXPONENT, Number(suffix.slice(1))))
  return { scale: 1n, exponent, format: 'DecimalExponent' }
}

function divideUp(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  if (value % divisor === 0n) return quotient
  return value > 0n ? quotient + 1n : quotient
}

/** Text to a quantity; what is finer than a nano is rounded away from zero, what is larger than int64 is cut down to it. */
export function parseQuantity(text: string): Quantity {
  const quantity = tryParseQuantity(text)
  if (quantity !== undefined) return quantity
  throw new Error(
    `Cannot read quantity ${JSON.stringify(text)}: expected a number such as "500m", "1.5", "2Gi" or "1e3"`,
  )
}

/** The same for callers with an error message of their own: undefined for what is no quantity. */
export function tryParseQuantity(text: string): Quantity | undefined {
  const match = text.length <= LONGEST_TEXT ? PATTERN.exec(text) : null
  if (match === null) return undefined
  const [, sign = '', number = '', suffix = ''] = match
  const { scale, exponent, format } = multiplierOf(suffix)
  const [whole = '', fraction = ''] = number.split('.')
  const power = exponent - fraction.length + 9
  const digits = BigInt(whole + fraction) * scale
  const nanos = power >= 0 ? digits * 10n ** BigInt(power) : divideUp(digits, 10n ** BigInt(-power))
  const bounded = nanos > LARGEST_NANOS ? LARGEST_NANOS : nanos
  return { nanos: sign === '-' ? -bounded : bounded, format }
}

/** Negative, zero or positive, as for sort(). */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos === b.nanos ? 0 : a.nanos < b.nanos ? -1 : 1
}

/** The value in whole units, rounded up: bytes of memory, pids, inodes. */
export function quantityValue(quantity: Quantity): bigint {
  return divideUp(quantity.nanos, NANOS_PER_UNIT)
}

/** The value in thousandths, rounded up: CPU time. */
export function quantityMilliValue(quantity: Quantity): bigint {
  return divideUp(quantity.nanos, NANOS_PER_MILLI)
}

/** Rounded away from zero to whole thousandths: the API keeps nothing finer. */
export function roundToMilli(quantity: Quantity): Quantity {
  const { nanos } = quantity
  const size = divideUp(nanos < 0n ? -nanos : nanos, NANOS_PER_MILLI) * NANOS_PER_MILLI
  return { ...quantity, nanos: nanos < 0n ? -size : size }
}

function formatDecimal(nanos: bigint, format: 'DecimalSI' | 'DecimalExponent'): string {
  if (nanos === 0n) return '0'
  let mantissa = nanos
  let exponent = -9
  while (mantissa % 1000n === 0n && exponent < 18) {
    mantissa /= 1000n
    exponent += 3
  }
  if (format === 'DecimalExponent') return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`
  return `${mantissa}${DECIMAL_SUFFIXES.find(([, power]) => power === exponent)?.[0] ?? ''}`
}

/** The canonical text: the largest suffix that needs no fraction. Binary values below 1024 are printed as decimals. */
export function formatQuantity(quantity: Quantity): string {
  const { nanos, format } = quantity
  if (format !== 'BinarySI') return formatDecimal(nanos, format)
  const size = nanos < 0n ? -nanos : nanos
  if (size < 1024n * NANOS_PER_UNIT) return formatDecimal(nanos, 'DecimalSI')
  let mantissa = quantityValue(quantity)
  let step = 0
  while (mantissa % 1024n === 0n && step < BINARY_SUFFIXES.length - 1) {
    mantissa /= 1024n
    step += 1
  }
  return `${mantissa}${BINARY_SUFFIXES[step]}`
}
