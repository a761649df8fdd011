// The process or the machine has no descriptor or no memory to spare: whatever fails for that reason works later.
const PASSING: readonly unknown[] = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']

/** Whether it fails for want of something that the machine has again soon: that says nothing of what was asked for. */
export function isPassing(error: unknown): boolean {
  return listCauses(error).some((each) => each instanceof Error && 'code' in each && PASSING.includes(each.code))
}

/** Throws a failure again that passes. What could be read a moment later is neither broken nor gone. */
export function throwIfPassing(error: unknown): void {
  if (isPassing(error)) throw error
}

/** An error and all that caused it. */
export function listCauses(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [error]
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : []
  return [error, ...[...inner, ...(error.cause === undefined ? [] : [error.cause])].flatMap(listCauses)]
}
