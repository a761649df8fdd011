/** One way to a disk is enough, two make it safe. */
const ENOUGH_PATHS = 2
const ROUNDS_FOR_ALL = 2
const MOST_ROUNDS = 5

/** Whether to try the portals again that gave no disk: all of them twice, and until there are two, but not for ever. */
export function computeAttachRound(tried: {
  readonly portals: number
  readonly found: number
  readonly round: number
}): 'done' | 'again' | 'failed' {
  const { portals, found, round } = tried
  if (found === 0) return 'failed'
  if (found === portals || round >= MOST_ROUNDS) return 'done'
  return found >= ENOUGH_PATHS && round >= ROUNDS_FOR_ALL ? 'done' : 'again'
}
