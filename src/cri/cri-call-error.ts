import type { CriMethod } from './cri-methods.ts'

// In the order of gRPC's numbers.
const GRPC_CODES = [
  'Ok',
  'Cancelled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const

/** Why a call failed: gRPC's codes, and InvalidReply for an answer that breaks the contract. */
export type CriErrorCode = (typeof GRPC_CODES)[number] | 'InvalidReply'

const RETRYABLE: ReadonlySet<CriErrorCode> = new Set(['Unavailable', 'DeadlineExceeded', 'Aborted'])

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
  const { code, details, message } = error as { code?: unknown; details?: unknown; message?: unknown }
  const detail = typeof details === 'string' && details !== '' ? details : String(message ?? error)
  const name = (typeof code === 'number' ? GRPC_CODES[code] : undefined) ?? 'Unknown'
  const absent = name === 'Unknown' && MAY_BE_ABSENT.has(method) && detail.includes('not implemented')
  return new CriCallError(method, absent ? 'Unimplemented' : name, detail, { cause: error })
}
