import { DeadlineError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import { HealthCheckResponse_ServingStatus, HealthDefinition } from './generated/grpc-health.ts'
import type { HealthCheckResponse } from './generated/grpc-health.ts'
import { GrpcCallError } from './grpc-call-error.ts'
import { GrpcChannel } from './grpc-channel.ts'
import { toGrpcMethod } from './grpc-method.ts'

export interface GrpcHealthRequest {
  /** An address; IPv6 without brackets. */
  readonly host: string
  readonly port: number
  readonly service: string
  /** For the connection and the call together. */
  readonly timeoutMs: number
  readonly userAgent: string
}

/** How the question ended; the detail is for users. */
export type GrpcHealth =
  | { readonly kind: 'answered'; readonly status: string }
  | {
      readonly kind: 'connect-timeout' | 'connect-failed' | 'call-timeout' | 'unimplemented' | 'call-failed'
      readonly detail: string
    }

const check = toGrpcMethod(HealthDefinition.fullName, HealthDefinition.methods.check)

/** Asks a server's gRPC health service once, over a connection of its own, in plain text. */
export async function checkGrpcHealth(
  clock: Clock,
  { host, port, service, timeoutMs, userAgent }: GrpcHealthRequest,
  signal: AbortSignal,
): Promise<GrpcHealth> {
  const target = host.includes(':') ? `ipv6:[${host}]:${port}` : `ipv4:${host}:${port}`
  using channel = new GrpcChannel({ target, clock, userAgent, retries: false })
  try {
    return { kind: 'answered', status: statusName(await channel.unary(check, { service }, { timeoutMs }, signal)) }
  } catch (error) {
    if (!(error instanceof GrpcCallError)) throw error
    return toHealth(error, channel.connected)
  }
}

function toHealth({ code, detail, cause }: GrpcCallError, isConnected: boolean): GrpcHealth {
  if (cause instanceof DeadlineError)
    return { kind: isConnected ? 'call-timeout' : 'connect-timeout', detail: 'context deadline exceeded' }
  if (code === 'Unimplemented') return { kind: 'unimplemented', detail }
  if (code === 'Unavailable' && !isConnected) return { kind: 'connect-failed', detail }
  return { kind: code === 'DeadlineExceeded' ? 'call-timeout' : 'call-failed', detail }
}

function statusName({ status: value }: HealthCheckResponse): string {
  const [name] = Object.entries(HealthCheckResponse_ServingStatus).find(([, known]) => known === value) ?? []
  return name ?? String(value)
}
