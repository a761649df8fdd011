import { DeadlineError } from './abort-errors.ts'
import { AbortScope } from './abort-scope.ts'
import type { Clock } from './clock.ts'

/** Runs work with a signal that aborts after ms; fails with a DeadlineError which names what was late. */
export async function withDeadline<T>(
  options: { readonly clock: Clock; readonly ms: number; readonly what: string },
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  using scope = new AbortScope(signal)
  using timer = new AbortScope(signal)
  const late = options.clock.sleep(options.ms, timer.signal).then(
    () => {
      const error = new DeadlineError(`Cannot finish ${options.what}: no end after ${options.ms} ms`)
      scope.abort(error)
      throw error
    },
    () => new Promise<never>(() => {}),
  )
  return await Promise.race([work(scope.signal), late])
}
