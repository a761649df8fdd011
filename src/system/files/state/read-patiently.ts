import type { Clock } from '../../../base/async/clock.ts'
import { isTransient } from '../../../base/async/transient-errors.ts'
import { errorText } from '../../../base/telemetry/error-text.ts'

const WAITS_MS = [100, 400, 1600]

/**
 * Reads a file that must not be taken for broken because no descriptor or memory was to spare: tries a few times, and then fails with an
 * error that names the file and still counts as one that passes. The caller leaves the file as it is, and begins again later.
 */
export async function readPatiently<T>(
  read: () => Promise<T>,
  { path, clock }: { readonly path: string; readonly clock: Pick<Clock, 'sleep'> },
  signal: AbortSignal,
): Promise<T> {
  for (const ms of WAITS_MS) {
    try {
      return await read()
    } catch (error) {
      if (!isTransient(error)) throw error
      await clock.sleep(ms, signal)
    }
  }
  try {
    return await read()
  } catch (error) {
    if (!isTransient(error)) throw error
    throw new Error(`Cannot read "${path}" now, it is left as it is: ${errorText(error)}`, { cause: error })
  }
}
