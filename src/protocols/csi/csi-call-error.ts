import type { GrpcCode } from '../grpc/grpc-code.ts'

// The driver may be at work still, or may have been: only another call tells what came of it.
const OPEN_ENDED: ReadonlySet<GrpcCode> = new Set([
  'Cancelled',
  'DeadlineExceeded',
  'Unavailable',
  'ResourceExhausted',
  'Aborted',
])

/** A call to a CSI driver that failed. */
export class CsiCallError extends Error {
  override readonly name = 'CsiCallError'
  readonly driver: string
  readonly method: string
  readonly code: GrpcCode
  /** The driver's own words. */
  readonly detail: string

  constructor(
    call: { readonly driver: string; readonly method: string },
    failure: { readonly code: GrpcCode; readonly detail: string },
    options?: ErrorOptions,
  ) {
    super(`Cannot call "${call.method}" of CSI driver "${call.driver}": ${failure.code}: ${failure.detail}`, options)
    this.driver = call.driver
    this.method = call.method
    this.code = failure.code
    this.detail = failure.detail
  }

  /** Nothing of what was asked has happened or will. */
  get isFinal(): boolean {
    return !OPEN_ENDED.has(this.code)
  }
}
