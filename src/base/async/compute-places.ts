/** How many may be inside at a time, and what is known about that. */
export interface Places {
  readonly count: number
  /** The last step was one more, one fewer, or none. */
  readonly step: 1 | 0 | -1
  /** Passes a second with the count before this step; undefined before anything was measured. */
  readonly before: number | undefined
  /** For so many measurements more nothing is tried. */
  readonly resting: number
}

export interface PlaceLimits {
  readonly least: number
  readonly most: number
}

// Of what one place more could bring at best, or one fewer must cost: less is noise, or a machine that is full.
const WORTH = 0.5
// What is done meanwhile changes slowly: other pods, other load.
const REST = 6

/** The places at the beginning. */
export function firstPlaces(count: number, { least, most }: PlaceLimits): Places {
  return { count: Math.min(most, Math.max(least, count)), step: 0, before: undefined, resting: 0 }
}

/**
 * The next number of places, after a measurement (turns a second while others waited all the time). One more as long as that is worth it; with as much
 * done by fewer, fewer: each of them is done earlier then.
 */
export function computePlaces(places: Places, rate: number, { least, most }: PlaceLimits): Places {
  const { count, step, before, resting } = places
  const move = (by: 1 | -1): Places => {
    const next = count + by
    if (next < least || next > most) return rest(0)
    return { count: next, step: by, before: rate, resting: 0 }
  }
  const rest = (by: 1 | 0 | -1): Places => ({ count: count + by, step: 0, before: undefined, resting: REST })
  if (step === 0 || before === undefined) return resting > 0 ? { ...places, resting: resting - 1 } : move(1)
  // At best the rate grows as the number of places.
  const ideal = Math.max(count, count - step) / Math.min(count, count - step) - 1
  if (step === 1) return rate / before - 1 >= ideal * WORTH ? move(1) : { ...move(-1), before: rate }
  return before / rate - 1 < ideal * WORTH ? move(-1) : rest(1)
}
