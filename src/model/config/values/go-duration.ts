/** A length of time in milliseconds; fractions hold what is finer, down to Go's nanosecond. */
export type Milliseconds = number

const NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // U+00B5
  μs: 1_000n, // U+03BC
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const LARGEST_NANOS = 2n ** 63n - 1n
const LONGEST_TEXT = 128
const DURATION = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/
const PART = /(\d*)\.?(\d*)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g

function toMilliseconds(nanos: bigint): Milliseconds {
  return Number(nanos / 1_000_000n) + Number(nanos % 1_000_000n) / 1e6
}

/** Go's duration text, such as "1m30s" or "-1.5h", to milliseconds. */
export function parseGoDuration(text: string): Milliseconds {
  if (text.length > LONGEST_TEXT || !DURATION.test(text)) {
    throw new Error(`Cannot read duration ${JSON.stringify(text)}: expected a text such as "1m30s", "100ms" or "4h"`)
  }
  let nanos = 0n
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(PART)) {
    const digits = BigInt(`0${whole}${fraction}`)
    nanos += (digits * (NANOS[unit] ?? 0n)) / 10n ** BigInt(fraction.length)
  }
  if (nanos > LARGEST_NANOS) throw new Error(`Cannot read duration "${text}": expected at most 2562047h47m16s`)
  return toMilliseconds(text.startsWith('-') ? -nanos : nanos)
}

function trimmed(value: bigint, unit: bigint): string {
  const fraction = String(value % unit)
    .padStart(String(unit).length - 1, '0')
    .replace(/0+$/, '')
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`
}

/** Milliseconds in Go's own text: "1m30s", "100ms", "0s". */
export function formatGoDuration(ms: Milliseconds): string {
  const whole = Math.trunc(ms)
  const signed = BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6))
  if (signed === 0n) return '0s'
  const sign = signed < 0n ? '-' : ''
  const nanos = signed < 0n ? -signed : signed
  if (nanos < 1_000n) return `${sign}${nanos}ns`
  if (nanos < 1_000_000n) return `${sign}${trimmed(nanos, 1_000n)}µs`
  if (nanos < 1_000_000_000n) return `${sign}${trimmed(nanos, 1_000_000n)}ms`
  const seconds = trimmed(nanos % 60_000_000_000n, 1_000_000_000n)
  const minutes = nanos / 60_000_000_000n
  if (minutes === 0n) return `${sign}${seconds}s`
  return minutes < 60n ? `${sign}${minutes}m${seconds}s` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}s`
}
