import { CsiCallError } from '../../csi/csi-call-error.ts'
import type { CsiDriver, CsiDrivers } from '../../csi/csi-drivers.ts'
import { VolumeStepError } from '../volume-step-error.ts'

/** A driver by its name; one that is not there may come. */
export function requireDriver(drivers: CsiDrivers, name: string): CsiDriver {
  const driver = drivers.find(name)
  if (driver === undefined) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`)
  return driver
}

/**
 * Runs a step of bringing a volume and gives its failures the words that users know. What failed before the call that the step is about has
 * not been tried.
 */
export async function inStep<T>(
  step: { readonly name: string; readonly call: string; readonly reason?: string },
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted || error instanceof VolumeStepError) throw error
    throw new VolumeStepError(csiErrorText(error), {
      step: step.name,
      reason: step.reason,
      outcome: toOutcome(error, step.call),
      cause: error,
    })
  }
}

function toOutcome(error: unknown, call: string): VolumeStepError['outcome'] {
  if (!(error instanceof CsiCallError) || error.method !== call) return 'untried'
  return error.isFinal ? 'failed' : 'uncertain'
}

/** Nothing has come of this call, and nothing will. */
export function isFinalFailure(error: unknown, call: string): boolean {
  return toOutcome(error, call) === 'failed'
}

/** A failed call in the words that all CSI drivers' users know from their logs. */
export function csiErrorText(error: unknown): string {
  if (error instanceof CsiCallError) {
    const code = error.code === 'Cancelled' ? 'Canceled' : error.code
    return `rpc error: code = ${code} desc = ${error.detail}`
  }
  return Error.isError(error) ? error.message : String(error)
}
