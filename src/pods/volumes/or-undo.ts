import { UncertainMountError } from './volume-kind.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

/**
 * Leaves nothing half done behind, since that would seem complete to the next try. What cannot be undone is reported as uncertain; so is whatever
 * is given up, by the signal itself.
 */
export async function orUndo(
  { work, undo }: { readonly work: () => Promise<void>; readonly undo: () => Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (signal.aborted) throw error
    try {
      await undo()
    } catch (cause) {
      throw new UncertainMountError(errorMessage(error), { cause })
    }
    throw error
  }
}
