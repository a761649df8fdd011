// The process or the machine has no descriptor or no memory to spare: whatever fails for that reason works later.
const TRANSIENT: readonly unknown[] = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']

/** Whether it fails because the machine lacks something for the moment, which says nothing of what was asked for. */
export function isTransient(error: unknown): boolean {
  return listCauses(error).some((each) => each instanceof Error && 'code' in each && TRANSIENT.includes(each.code))
}

/** Throws a transient failure again. What could be read a moment later is neither broken nor gone. */
export function throwIfTransient(error: unknown): void {
  if (isTransient(error)) throw error
}

/** An error and all that caused it. */
export function listCauses(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [error]
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : []
  return [error, ...[...inner, ...(error.cause === undefined ? [] : [error.cause])].flatMap(listCauses)]
}
