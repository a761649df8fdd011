import type { GrpcHealth, GrpcHealthRequest } from '../../../protocols/grpc/check-grpc-health.ts'
import { PROBE_USER_AGENT } from '../probe-outcome.ts'
import type { ProbeOutcome } from '../probe-outcome.ts'
import { toAddress } from '../to-dial-text.ts'

export interface GrpcProbeDeps {
  readonly checkGrpcHealth: (request: GrpcHealthRequest, signal: AbortSignal) => Promise<GrpcHealth>
}

export interface GrpcProbeTarget {
  readonly host: string
  readonly port: number
  readonly service: string
  readonly timeoutSeconds: number
}

/** Asks gRPC's health service; anything but "serving" is a failure. */
export async function runGrpcProbe(
  { checkGrpcHealth }: GrpcProbeDeps,
  { host, port, service, timeoutSeconds }: GrpcProbeTarget,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const address = toAddress(host, port)
  const request = { host, port, service, timeoutMs: timeoutSeconds * 1000, userAgent: PROBE_USER_AGENT }
  const health = await checkGrpcHealth(request, signal)
  const within = `within ${timeoutSeconds}s`
  switch (health.kind) {
    case 'answered':
      if (health.status === 'SERVING') return { result: 'success', output: 'service healthy' }
      return failure(`service unhealthy (responded with "${health.status}")`)
    case 'connect-timeout':
      return failure(`timeout: failed to connect service "${address}" ${within}: ${health.detail}`)
    case 'connect-failed':
      return failure(`error: failed to connect service at "${address}": ${health.detail}`)
    case 'call-timeout':
      return failure(`timeout: health rpc did not complete ${within}`)
    case 'unimplemented':
      return failure(
        `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${health.detail}`,
      )
    case 'call-failed':
      return failure(`error: health rpc probe failed: ${health.detail}`)
  }
}

function failure(output: string): ProbeOutcome {
  return { result: 'failure', output }
}
