// On small machines two starts at a time are faster for all than many (docs/decisions/0005-turnstile.md).
const LEAST = 2
// Beyond the runtime only gets slower, for whatever a start waits.
const MOST_PER_CPU = 4

/** How many pods may start at the same time on a machine with so many CPUs: at first, and after what is learned of it. */
export function computeParallelStarts(cpus: number) {
  return { places: Math.max(LEAST, cpus), adapt: { least: LEAST, most: MOST_PER_CPU * cpus } }
}
