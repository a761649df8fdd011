/** When something that failed may be tried again. */
export interface NextTry<Operation extends string> {
  readonly operation: Operation
  /** On the monotonic clock. */
  readonly at: number
  readonly delayMs: number
  readonly why: string
}

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 122_000

/** Each failure in a row makes the next try wait twice as long; a failure of something else begins anew. */
export function computeNextTry<Operation extends string>(
  previous: NextTry<Operation> | undefined,
  failed: { readonly operation: Operation; readonly why: string },
  now: number,
): NextTry<Operation> {
  const delayMs =
    previous?.operation === failed.operation ? Math.min(previous.delayMs * 2, LONGEST_DELAY_MS) : FIRST_DELAY_MS
  return { ...failed, at: now + delayMs, delayMs }
}
