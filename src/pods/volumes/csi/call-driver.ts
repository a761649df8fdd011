import { CsiCallError } from '../../../protocols/csi/csi-call-error.ts'
import type { CsiDriver, CsiDrivers } from '../../../protocols/csi/csi-drivers.ts'
import { VolumeStepError } from '../volume-step-error.ts'
import type { StepOutcome } from '../volume-step-error.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

/** A driver by its name; one that is not there may come. */
export function requireDriver(drivers: CsiDrivers, name: string): CsiDriver {
  const driver = drivers.find(name)
  if (driver === undefined) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`)
  return driver
}

interface Step {
  /** As events call it. */
  readonly name: string
  /** The call that it is about: what failed before has not been tried. */
  readonly call: string
  readonly reason?: string
  /** Clears away what was prepared for the call, when certainly nothing came of it. */
  readonly clear?: (() => Promise<void>) | undefined
}

/** Runs a step of mounting a volume and gives its failures the words that users know. */
export async function withVolumeStepErrors<T>(step: Step, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted || error instanceof VolumeStepError) throw error
    const outcome = await clearAfter(toOutcome(error, step.call), step.clear)
    throw new VolumeStepError(csiErrorText(error), { step: step.name, reason: step.reason, outcome, cause: error })
  }
}

/** What cannot be cleared away may be there after all. */
async function clearAfter(outcome: StepOutcome, clear: Step['clear']): Promise<StepOutcome> {
  if (outcome !== 'failed' || clear === undefined) return outcome
  try {
    await clear()
    return outcome
  } catch {
    return 'uncertain'
  }
}

function toOutcome(error: unknown, call: string): StepOutcome {
  if (!(error instanceof CsiCallError) || error.method !== call) return 'untried'
  return error.isFinal ? 'failed' : 'uncertain'
}

/** A failed call in the words that all CSI drivers' users know from their logs. */
export function csiErrorText(error: unknown): string {
  return error instanceof CsiCallError ? error.rpcText : errorMessage(error)
}
