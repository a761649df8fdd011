import { isTransient, listCauses } from './transient-errors.ts'

/** The agent leaves; pods stay. */
export class ShutdownError extends Error {
  override readonly name = 'ShutdownError'
}

/** Something took longer than it may. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

/** What goes on failing until a person changes something: trying again would only hide it. */
export class FatalError extends Error {
  override readonly name = 'FatalError'
}

/** True for a FatalError and for whatever it caused, unless it has a cause that passes. */
export function isFatal(error: unknown): boolean {
  return listCauses(error).some((each) => each instanceof FatalError) && !isTransient(error)
}
