/** The middle of many values, and between which values it lies with a confidence of 95 %. */
export interface MedianInterval {
  readonly median: number
  readonly low: number
  readonly high: number
  /** Half of the width of the interval, as a part of the median; Infinity while too little is known. */
  readonly spread: number
}

// Of a normal distribution, for 95 %.
const Z = 1.96
// With fewer values even the smallest and the largest do not enclose the median with 95 %.
const LEAST_VALUES = 6
const RESAMPLES = 2000

/** The value in the middle; undefined when there is none. */
export function computeMedian(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low, high] = [sorted[middle - 1], sorted[middle]]
  if (high === undefined) return undefined
  return sorted.length % 2 === 1 || low === undefined ? high : (low + high) / 2
}

/** The value that so many percent are not above; NaN when there is none. */
export function computePercentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN
}

/**
 * The interval of the median by its order statistics: it assumes nothing of how the values are spread, so that outliers, which times
 * always have, do not widen it.
 */
export function computeMedianInterval(values: readonly number[]): MedianInterval | undefined {
  const median = computeMedian(values)
  const sorted = [...values].sort((a, b) => a - b)
  const [least, most] = [sorted[0], sorted.at(-1)]
  if (median === undefined || least === undefined || most === undefined) return undefined
  const { length } = sorted
  if (length < LEAST_VALUES) return { median, low: least, high: most, spread: Infinity }
  const half = (Z * Math.sqrt(length)) / 2
  const low = sorted[Math.max(0, Math.floor(length / 2 - half))] ?? least
  const high = sorted[Math.min(length - 1, Math.ceil(length / 2 + half))] ?? most
  return { median, low, high, spread: median === 0 ? 0 : (high - low) / 2 / Math.abs(median) }
}

/**
 * How many times the other's median ours is, with its interval: both are drawn again and again from what was measured. Chance is given,
 * from 0 up to 1, so that the same values always give the same interval.
 */
export function computeRatioInterval(
  ours: readonly number[],
  other: readonly number[],
  chance: () => number,
): MedianInterval | undefined {
  const [a, b] = [computeMedian(ours), computeMedian(other)]
  if (a === undefined || b === undefined || b === 0) return undefined
  const ratio = a / b
  const isLittle = Math.min(ours.length, other.length) < LEAST_VALUES
  const ratios = Array.from({ length: RESAMPLES }, () => {
    const drawn = [ours, other].map((values) => computeMedian(draw(values, chance)) ?? 0)
    return (drawn[0] ?? 0) / (drawn[1] ?? 1)
  })
    .filter((value) => Number.isFinite(value))
    .sort((x, y) => x - y)
  const at = (part: number) => ratios[Math.min(ratios.length - 1, Math.floor(part * ratios.length))] ?? ratio
  const [low, high] = [at(0.025), at(0.975)]
  const spread = isLittle ? Infinity : ratio === 0 ? 0 : (high - low) / 2 / ratio
  return { median: ratio, low, high, spread }
}

/** Numbers that only seem to be chance: the same in every run (mulberry32). */
export function createChance(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function draw(values: readonly number[], chance: () => number): readonly number[] {
  return values.map(() => values[Math.floor(chance() * values.length)] ?? 0)
}
