/** An amount such as "100m", "1.5Gi" or "2e3": exact, in billionths, with the notation it was written in. */
export interface Quantity {
  readonly nanos: bigint
  readonly notation: 'decimal' | 'binary' | 'exponent'
}

const PATTERN = /^([+-]?)(\d+\.?\d*|\.\d+)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d{1,3})?$/
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const NANOS = 1_000_000_000n
// Longer numbers are no amounts of anything, and would be slow.
const MAX_LENGTH = 64

/** Text → exact amount; undefined for what is no quantity. Amounts finer than a billionth are rounded up. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = text.length > MAX_LENGTH ? null : PATTERN.exec(text)
  if (match === null) return undefined
  const [, sign, digits = '', suffix = ''] = match
  const [whole = '', fraction = ''] = digits.split('.')
  const scaled = scale(BigInt(`${whole}${fraction}` || '0'), fraction.length, suffix)
  const nanos = scaled.notation === 'binary' && scaled.nanos > 0n && scaled.nanos < NANOS ? NANOS : scaled.nanos
  return { nanos: sign === '-' ? -nanos : nanos, notation: scaled.notation }
}

function scale(value: bigint, fractionDigits: number, suffix: string): Quantity {
  const binary = suffix === '' ? -1 : BINARY_SUFFIXES.indexOf(suffix)
  if (binary > 0) {
    return {
      nanos: divideUp(value * NANOS * 1024n ** BigInt(binary), 10n ** BigInt(fractionDigits)),
      notation: 'binary',
    }
  }
  const isExponent = /^[eE][+-]?\d/.test(suffix)
  const exponent = isExponent ? Number(suffix.slice(1)) : 3 * (DECIMAL_SUFFIXES.indexOf(suffix) - 3)
  const power = 9 + exponent - fractionDigits
  const nanos = power >= 0 ? value * 10n ** BigInt(power) : divideUp(value, 10n ** BigInt(-power))
  return { nanos, notation: isExponent ? 'exponent' : 'decimal' }
}

/** The API's one way to write an amount: no fraction, the largest suffix that keeps it exact. */
export function formatQuantity({ nanos, notation }: Quantity): string {
  if (nanos === 0n) return '0'
  const isBinary = notation === 'binary' && abs(nanos) >= 1024n * NANOS
  return isBinary ? formatBinary(nanos) : formatDecimal(nanos, notation)
}

function formatBinary(nanos: bigint): string {
  let value = divideUp(nanos, NANOS)
  let step = 0
  while (value % 1024n === 0n && step < BINARY_SUFFIXES.length - 1) {
    value /= 1024n
    step++
  }
  return `${value}${BINARY_SUFFIXES[step]}`
}

function formatDecimal(nanos: bigint, notation: Quantity['notation']): string {
  let value = nanos
  let step = 0
  while (value % 1000n === 0n && step < DECIMAL_SUFFIXES.length - 1) {
    value /= 1000n
    step++
  }
  const exponent = 3 * (step - 3)
  if (notation === 'exponent') return exponent === 0 ? `${value}` : `${value}e${exponent}`
  return `${value}${DECIMAL_SUFFIXES[step]}`
}

/** Rounded up to whole multiples of a unit given in billionths, as the API does with thousandths of any resource. */
export function roundUpQuantity(quantity: Quantity, unitNanos: bigint): Quantity {
  return { ...quantity, nanos: divideUp(quantity.nanos, unitNanos) * unitNanos }
}

/** Away from zero, as amounts are rounded: whoever asks for something gets something. */
function divideUp(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  if (value % divisor === 0n) return quotient
  return value < 0n ? quotient - 1n : quotient + 1n
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value
}
