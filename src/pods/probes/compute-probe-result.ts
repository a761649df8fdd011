/** How often in a row the last answer came. */
export interface ProbeStreak {
  readonly success: boolean
  readonly count: number
}

export interface ProbeThresholds {
  readonly successThreshold: number
  readonly failureThreshold: number
}

export interface ProbeResult {
  readonly streak: ProbeStreak
  /** What is now held to be true; undefined while the streak is too short to say so. */
  readonly verdict: boolean | undefined
}

/** What one more answer means; the opposite answer begins to count at one. */
export function computeProbeResult(
  streak: ProbeStreak | undefined,
  success: boolean,
  { successThreshold, failureThreshold }: ProbeThresholds,
): ProbeResult {
  const count = streak?.success === success ? streak.count + 1 : 1
  const enough = count >= (success ? successThreshold : failureThreshold)
  return { streak: { success, count }, verdict: enough ? success : undefined }
}
