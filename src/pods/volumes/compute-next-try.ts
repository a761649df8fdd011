import { computeNextWait } from '../../base/async/back-off.ts'

/** When something that failed may be tried again. */
export interface NextTry<Operation extends string> {
  readonly operation: Operation
  /** On the monotonic clock. */
  readonly at: number
  readonly delayMs: number
  readonly why: string
}

const RETRIES = { firstMs: 500, longestMs: 122_000 }

/** Each failure in a row makes the next try wait twice as long; after a failure of something else it waits as after the first. */
export function computeNextTry<Operation extends string>(
  previous: NextTry<Operation> | undefined,
  failed: { readonly operation: Operation; readonly why: string },
  now: number,
): NextTry<Operation> {
  const isSame = previous?.operation === failed.operation
  const delayMs = computeNextWait(RETRIES, isSame ? previous.delayMs : undefined)
  return { ...failed, at: now + delayMs, delayMs }
}
