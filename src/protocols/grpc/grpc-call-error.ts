import { toGrpcCode } from './grpc-code.ts'
import type { GrpcCode } from './grpc-code.ts'

/** Why a call failed: gRPC's codes, and InvalidReply for an answer that breaks the contract. */
export type CallErrorCode = GrpcCode | 'InvalidReply'

/** A call that failed, as data. */
export interface CallFailure {
  /** Without its service. */
  readonly method: string
  readonly code: CallErrorCode
  readonly detail: string
}

// Our own cancel rejects with the signal's reason, so Cancelled is always the other side's doing.
const RETRYABLE: ReadonlySet<CallErrorCode> = new Set(['Unavailable', 'DeadlineExceeded', 'Aborted', 'Cancelled'])

/** A gRPC call that failed; each peer has a class of its own below this one. Loops decide by `code`, users read `detail`. */
export class GrpcCallError extends Error {
  override readonly name: string = 'GrpcCallError'
  readonly method: string
  readonly code: CallErrorCode
  /** The peer's own words. */
  readonly detail: string

  constructor(
    { method, code, detail }: CallFailure,
    options?: ErrorOptions,
    message = `Cannot call "${method}": ${code}: ${detail}`,
  ) {
    super(message, options)
    this.method = method
    this.code = code
    this.detail = detail
  }

  /** As Go programs print it, which is what users know from events and logs. */
  get rpcText(): string {
    const code = this.code === 'Cancelled' ? 'Canceled' : this.code
    return `rpc error: code = ${code} desc = ${this.detail}`
  }

  /** The same call may succeed later although nothing else changed. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code)
  }
}

// grpc-js announces a note of its resolver also where that has none to give.
const EMPTY_NOTE = /\. Resolution note: $/

/** Turns what grpc-js threw into our error; the code is Unknown for what is not from gRPC. */
export function toGrpcCallError(method: string, error: unknown): GrpcCallError {
  if (error instanceof GrpcCallError) return error
  const { code, details, message } = error as { code?: unknown; details?: unknown; message?: unknown }
  const detail = typeof details === 'string' && details !== '' ? details : String(message ?? error)
  const failure = { method, code: toGrpcCode(code), detail: detail.replace(EMPTY_NOTE, '') }
  return new GrpcCallError(failure, { cause: error })
}
