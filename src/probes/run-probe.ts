import type { Clock } from '../async/clock.ts'
import type { Container, Probe } from '../model/generated/core-v1.ts'
import { computeProbeCommand } from './compute-probe-command.ts'
import { computeProbePort } from './compute-probe-port.ts'
import { runExecProbe } from './kinds/run-exec-probe.ts'
import type { ExecProbeDeps } from './kinds/run-exec-probe.ts'
import { runGrpcProbe } from './kinds/run-grpc-probe.ts'
import type { GrpcProbeDeps } from './kinds/run-grpc-probe.ts'
import { runHttpProbe } from './kinds/run-http-probe.ts'
import { runTcpProbe } from './kinds/run-tcp-probe.ts'
import type { ProbeOutcome } from './probe-outcome.ts'

export interface RunProbeDeps extends ExecProbeDeps, GrpcProbeDeps {
  readonly clock: Clock
}

export interface ProbeRequest {
  readonly probe: Probe
  readonly container: Container
  readonly containerId: string
  /** Empty while the pod has no address. */
  readonly podIp: string
}

// Whatever keeps us from asking is often over at once.
const ATTEMPTS = 3

/** Asks a container once; a question that could not be asked is tried again at once, a few times. */
export async function runProbe(deps: RunProbeDeps, request: ProbeRequest, signal: AbortSignal): Promise<ProbeOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tryOnce(deps, request, signal)
    if (outcome.result !== 'error' || attempt === ATTEMPTS) return outcome
  }
}

async function tryOnce(deps: RunProbeDeps, request: ProbeRequest, signal: AbortSignal): Promise<ProbeOutcome> {
  try {
    return await ask(deps, request, signal)
  } catch (error) {
    signal.throwIfAborted()
    return { result: 'error', output: Error.isError(error) ? error.message : String(error), state: 'unknown' }
  }
}

async function ask(
  deps: RunProbeDeps,
  { probe, container, containerId, podIp }: ProbeRequest,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { exec, httpGet, tcpSocket, grpc, timeoutSeconds = 1 } = probe
  if (exec !== undefined) {
    const command = computeProbeCommand(exec.command ?? [], container)
    return await runExecProbe(deps, { containerId, command, timeoutSeconds }, signal)
  }
  if (httpGet !== undefined) {
    const { host = '', path = '/', scheme, httpHeaders = [] } = httpGet
    const target = {
      scheme: scheme?.toLowerCase() === 'https' ? ('https' as const) : ('http' as const),
      host: host === '' ? podIp : host,
      port: computeProbePort(httpGet.port, container),
      path,
      headers: httpHeaders,
      timeoutSeconds,
    }
    return await runHttpProbe(deps, target, signal)
  }
  if (tcpSocket !== undefined) {
    const { host = '' } = tcpSocket
    const port = computeProbePort(tcpSocket.port, container)
    return await runTcpProbe(deps, { host: host === '' ? podIp : host, port, timeoutSeconds }, signal)
  }
  if (grpc !== undefined) {
    return await runGrpcProbe(
      deps,
      { host: podIp, port: grpc.port, service: grpc.service ?? '', timeoutSeconds },
      signal,
    )
  }
  throw new Error(`Cannot probe container "${container.name}": expected exec, httpGet, tcpSocket or grpc`)
}
