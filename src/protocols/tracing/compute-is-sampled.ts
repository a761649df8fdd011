/**
 * Whether a new trace is kept. Only its id counts, so every process with the same rate decides alike. As in OpenTelemetry, the last
 * eight bytes of the id count.
 */
export function computeIsSampled(traceId: string, ratePerMillion: number): boolean {
  if (ratePerMillion >= 1_000_000) return true
  const chance = BigInt(`0x${traceId.slice(16)}`) >> 1n
  return chance < (BigInt(ratePerMillion) << 63n) / 1_000_000n
}
