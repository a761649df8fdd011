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

// The machine, or this process, has no descriptor to spare: whatever fails for that reason works later.
const PASSING: readonly unknown[] = ['EMFILE', 'ENFILE']

/** True for a FatalError and for whatever it caused, unless it has a cause that passes. */
export function isFatal(error: unknown): boolean {
  const all = listCauses(error)
  return all.some((each) => each instanceof FatalError) && !all.some((each) => PASSING.includes(codeOf(each)))
}

function listCauses(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [error]
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : []
  return [error, ...[...inner, ...(error.cause === undefined ? [] : [error.cause])].flatMap(listCauses)]
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
