import { GrpcCallError } from '../grpc/grpc-call-error.ts'
import type { CallErrorCode } from '../grpc/grpc-call-error.ts'

// The driver may still be at work, or may have done it: only another call shows the outcome.
const OPEN_ENDED: ReadonlySet<CallErrorCode> = new Set([
  'Cancelled',
  'DeadlineExceeded',
  'Unavailable',
  'ResourceExhausted',
  'Aborted',
])

/** A call to a CSI driver that failed. */
export class CsiCallError extends GrpcCallError {
  override readonly name = 'CsiCallError'
  readonly driver: string

  constructor(
    { driver, method }: { readonly driver: string; readonly method: string },
    { code, detail }: { readonly code: CallErrorCode; readonly detail: string },
    options?: ErrorOptions,
  ) {
    super({ method, code, detail }, options, `Cannot call "${method}" of CSI driver "${driver}": ${code}: ${detail}`)
    this.driver = driver
  }

  /** Nothing of what was asked has happened or will. */
  get isFinal(): boolean {
    return !OPEN_ENDED.has(this.code)
  }
}
