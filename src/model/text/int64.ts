// 68 years: still a time to timers, dates and the durations of every runtime, and for ever to users.
const LONGEST_SECONDS = 2 ** 31 - 1

/** A duration of the API in seconds. The largest int64 stands for "for ever" there, so what no timer could wait for is cut down. */
export function toSeconds(value: number | bigint): number {
  return Number(value > LONGEST_SECONDS ? LONGEST_SECONDS : value < -LONGEST_SECONDS ? -LONGEST_SECONDS : value)
}

/** The largest of some integers; undefined when there is none. */
export function largestOf(values: readonly (number | bigint | undefined)[]): number | bigint | undefined {
  let largest: number | bigint | undefined
  for (const value of values) if (value !== undefined && (largest === undefined || value > largest)) largest = value
  return largest
}
