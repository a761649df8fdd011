const THRESHOLD_MS = 180_000

/** Why a node that has not relisted its runtime for long is not ready, in the words of the Go kubelet; empty while it is. */
export function computeRelistProblem(ageMs: number): readonly string[] {
  if (ageMs < THRESHOLD_MS) return []
  const seconds = Math.floor(ageMs / 1000)
  const age = `${Math.floor(seconds / 60)}m${seconds % 60}s`
  return [`PLEG is not healthy: pleg was last seen active ${age} ago; threshold is ${THRESHOLD_MS / 60_000}m0s`]
}
