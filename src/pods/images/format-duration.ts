/** A duration as Go prints it, to the millisecond: 0s, 85ms, 1.5s, 1m2.25s, 1h0m3s. Users and scripts read it in events. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.floor(ms))
  if (whole === 0) return '0s'
  if (whole < 1000) return `${whole}ms`
  const hours = Math.floor(whole / 3_600_000)
  const minutes = Math.floor((whole % 3_600_000) / 60_000)
  const seconds = (whole % 60_000) / 1000
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`
}
