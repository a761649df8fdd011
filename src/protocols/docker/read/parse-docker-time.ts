const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/
const NANOS_PER_MS = 1_000_000n

/** Nanoseconds since the epoch; 0 for Docker's zero time (year 1), which means never. */
export function parseDockerTime(text: string): bigint {
  const [, seconds, fraction = '', zone] = TIME.exec(text) ?? []
  if (seconds === undefined) return 0n
  const ms = Date.parse(`${seconds}${zone}`)
  if (!(ms > 0)) return 0n
  return BigInt(ms) * NANOS_PER_MS + BigInt(fraction.padEnd(9, '0'))
}
