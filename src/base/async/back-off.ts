/** How the waits between tries grow. */
export interface BackOffLimits {
  readonly firstMs: number
  readonly longestMs: number
  /** By what a wait is multiplied for the next one; 2 without it. */
  readonly factor?: number
  /** Each wait is multiplied by `least` and up to `extra` more, so that those that failed together do not try again together. */
  readonly jitter?: { readonly least: number; readonly extra: number }
}

const NO_JITTER = { least: 1, extra: 0 }

/** How long to wait after so many failures in a row; chance (0 to 1) chooses within the jitter. */
export function computeBackOff(limits: BackOffLimits, failures: number, chance = 0): number {
  const { firstMs, longestMs, factor = 2, jitter = NO_JITTER } = limits
  const ms = Math.min(firstMs * factor ** Math.max(0, failures - 1), longestMs)
  return ms * (jitter.least + jitter.extra * chance)
}

/** How long to wait where the last wait is known, rather than the number of failures; undefined for the first one. */
export function computeNextWait(limits: BackOffLimits, lastMs: number | undefined): number {
  const { firstMs, longestMs, factor = 2 } = limits
  return lastMs === undefined ? firstMs : Math.min(lastMs * factor, longestMs)
}

/** The waits of one loop. */
export class BackOff {
  readonly #limits: BackOffLimits
  readonly #random: () => number
  #failures = 0

  constructor(limits: BackOffLimits, random: () => number = () => 0) {
    this.#limits = limits
    this.#random = random
  }

  /** How long to wait after one more failure. */
  next(): number {
    this.#failures += 1
    return computeBackOff(this.#limits, this.#failures, this.#random())
  }

  /** After a success: the next failure is the first one again. */
  reset(): void {
    this.#failures = 0
  }
}
