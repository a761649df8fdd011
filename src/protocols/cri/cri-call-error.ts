import type { CriMethod } from './cri-methods.ts'
import { GrpcCallError, toGrpcCallError } from '../grpc/grpc-call-error.ts'
import type { CallErrorCode } from '../grpc/grpc-call-error.ts'

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

/** A call to the runtime that failed. */
export class CriCallError extends GrpcCallError {
  override readonly name = 'CriCallError'
  readonly reason: CriErrorReason | undefined

  constructor(method: string, code: CallErrorCode, detail: string, options?: ErrorOptions) {
    super({ method, code, detail }, options)
    this.reason = WELL_KNOWN_REASONS.find((reason) => detail === reason || detail.startsWith(`${reason}:`))
  }
}

/** Turns what a call of the channel failed with into our error. */
export function toCriCallError(method: string, error: unknown): CriCallError {
  if (error instanceof CriCallError) return error
  const { code, detail, cause } = toGrpcCallError(method, error)
  const absent = code === 'Unknown' && MAY_BE_ABSENT.has(method) && detail.includes('not implemented')
  return new CriCallError(method, absent ? 'Unimplemented' : code, detail, { cause })
}
