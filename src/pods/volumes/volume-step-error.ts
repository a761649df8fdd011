/**
 * What came of a step that failed. Uncertain: it may have happened nevertheless, or may happen yet. Untried: the step itself was never begun, so
 * whatever was before is still so.
 */
export type StepOutcome = 'failed' | 'uncertain' | 'untried'

/** A failed step of mounting a volume, in the words that events have for it. */
export class VolumeStepError extends Error {
  override readonly name = 'VolumeStepError'
  /** As in "MountVolume.MountDevice failed". */
  readonly step: string
  readonly outcome: StepOutcome
  /** Of its event; undefined for the one that failures of this use of a volume have. */
  readonly reason: string | undefined

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly step: string
      readonly outcome: StepOutcome
      readonly reason?: string | undefined
    },
  ) {
    super(message, options)
    this.step = options.step
    this.outcome = options.outcome
    this.reason = options.reason
  }
}
