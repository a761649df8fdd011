import type { CriMethod } from './cri-methods.ts'
import { toGrpcFailure } from '../grpc/grpc-code.ts'
import type { GrpcCode } from '../grpc/grpc-code.ts'

/** Why a call failed: gRPC's codes, and InvalidReply for an answer that breaks the contract. */
export type CriErrorCode = GrpcCode | 'InvalidReply'

// Our own cancel rejects with the signal's reason, so Cancelled is always the other side's doing.
const RETRYABLE: ReadonlySet<CriErrorCode> = new Set(['Unavailable', 'DeadlineExceeded', 'Aborted', 'Cancelled'])

const WELL_KNOWN_REASONS = ['RegistryUnavailable', 'SignatureValidationFailed', 'ImageVolumeMountFailed'] as const

/** A cause which a runtime names at the start of its error text. */
export type CriErrorReason = (typeof WELL_KNOWN_REASONS)[number]

// Runtimes that have the method in their API but nothing behind it say so in words, with code Unknown.
const MAY_BE_ABSENT: ReadonlySet<string> = new Set<CriMethod>([
  'runtimeConfig',
  'updatePodSandboxResources',
  'podSandboxStats',
  'listPodSandboxStats',
  'listMetricDescriptors',
  'listPodSandboxMetrics',
  'checkpointContainer',
  'getContainerEvents',
])

/** A call to the runtime that failed. Loops decide by `code`, users read `detail`. */
export class CriCallError extends Error {
  override readonly name = 'CriCallError'
  readonly method: string
  readonly code: CriErrorCode
  /** The runtime's own words. */
  readonly detail: string
  readonly reason: CriErrorReason | undefined

  constructor(method: string, code: CriErrorCode, detail: string, options?: ErrorOptions) {
    super(`Cannot call "${method}": ${code}: ${detail}`, options)
    this.method = method
    this.code = code
    this.detail = detail
    this.reason = WELL_KNOWN_REASONS.find((reason) => detail === reason || detail.startsWith(`${reason}:`))
  }

  /** The same call may succeed later although nothing else changed. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code)
  }
}

/** Turns what gRPC threw into our error. */
export function toCriCallError(method: string, error: unknown): CriCallError {
  if (error instanceof CriCallError) return error
  const { code, detail } = toGrpcFailure(error)
  const absent = code === 'Unknown' && MAY_BE_ABSENT.has(method) && detail.includes('not implemented')
  return new CriCallError(method, absent ? 'Unimplemented' : code, detail, { cause: error })
}
