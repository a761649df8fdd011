import { parseGoDuration } from '../../model/config/values/go-duration.ts'
import type { TimeRange } from './simulation-options.ts'

/** "2s" or "500ms-3s". */
export function parseTimeRange(text: string): TimeRange {
  const [least = '', most = least, ...others] = text.split('-')
  try {
    const range = { leastMs: parseGoDuration(least), mostMs: parseGoDuration(most) }
    if (others.length === 0 && range.leastMs >= 0 && range.leastMs <= range.mostMs) return range
  } catch {
    // Said below.
  }
  throw new Error(`Cannot use "${text}" as a time: expected one such as 2s, or two such as 500ms-3s, the shorter first`)
}
