/** One thing that was done for a pod, or is being done. */
export interface TimelineStep {
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Undefined while it goes on. */
  readonly ms: number | undefined
  readonly error: string | undefined
}
