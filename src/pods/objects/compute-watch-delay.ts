const FIRST_DELAY_MS = 800
const LONGEST_DELAY_MS = 30_000

/** How long to wait before a broken watch is begun anew; chance (0 to 1) spreads those that broke together. */
export function computeWatchDelay(failures: number, chance: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS) * (0.5 + chance / 2)
}
