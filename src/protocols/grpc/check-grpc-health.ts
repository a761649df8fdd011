import { Client, connectivityState, credentials, status } from '@grpc/grpc-js'
import type { ServiceError } from '@grpc/grpc-js'
import { DeadlineError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { HealthCheckResponse_ServingStatus, HealthDefinition } from './generated/grpc-health.ts'
import type { HealthCheckResponse } from './generated/grpc-health.ts'
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
  request: GrpcHealthRequest,
  signal: AbortSignal,
): Promise<GrpcHealth> {
  const client = createClient(request)
  const isConnected = () => client.getChannel().getConnectivityState(false) === connectivityState.READY
  const deadline = { clock, ms: request.timeoutMs, what: 'the health check' }
  try {
    const reply = await withDeadline(deadline, (late) => call(client, request.service, late), signal)
    return { kind: 'answered', status: statusName(reply) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof DeadlineError) {
      return isConnected()
        ? { kind: 'call-timeout', detail: 'context deadline exceeded' }
        : { kind: 'connect-timeout', detail: 'context deadline exceeded' }
    }
    const { code, details } = error as ServiceError
    if (code === status.UNIMPLEMENTED) return { kind: 'unimplemented', detail: details }
    if (code === status.UNAVAILABLE && !isConnected()) return { kind: 'connect-failed', detail: details }
    if (code === status.DEADLINE_EXCEEDED) return { kind: 'call-timeout', detail: details }
    return { kind: 'call-failed', detail: details }
  } finally {
    client.close()
  }
}

function createClient({ host, port, userAgent }: GrpcHealthRequest): Client {
  const target = host.includes(':') ? `ipv6:[${host}]:${port}` : `ipv4:${host}:${port}`
  return new Client(target, credentials.createInsecure(), {
    'grpc.primary_user_agent': userAgent,
    // Closed with the client, and never another's.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.service_config_disable_resolution': 1,
    'grpc.enable_http_proxy': 0,
    'grpc.enable_retries': 0,
    'grpc.enable_channelz': 0,
  })
}

async function call(client: Client, service: string, signal: AbortSignal): Promise<HealthCheckResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HealthCheckResponse>()
  const outgoing = client.makeUnaryRequest(
    check.path,
    check.requestSerialize,
    check.responseDeserialize,
    { service },
    (error, reply) => (error ? reject(error) : resolve(reply as HealthCheckResponse)),
  )
  const cancel = () => outgoing.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

function statusName({ status: value }: HealthCheckResponse): string {
  const [name] = Object.entries(HealthCheckResponse_ServingStatus).find(([, known]) => known === value) ?? []
  return name ?? String(value)
}
