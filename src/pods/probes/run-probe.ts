import type { Clock } from '../../base/async/clock.ts'
import type { Container, Probe } from '../../model/generated/core-v1.ts'
import { toHttpGetRequest } from '../../protocols/http/to-http-get-request.ts'
import { resolvePort } from '../../model/pod/resolve-port.ts'
import { computeProbeCommand } from './compute-probe-command.ts'
import { runExecProbe } from './kinds/run-exec-probe.ts'
import type { ExecProbeDeps } from './kinds/run-exec-probe.ts'
import { runGrpcProbe } from './kinds/run-grpc-probe.ts'
import type { GrpcProbeDeps } from './kinds/run-grpc-probe.ts'
import { runHttpProbe } from './kinds/run-http-probe.ts'
import type { HttpProbeDeps } from './kinds/run-http-probe.ts'
import { runTcpProbe } from './kinds/run-tcp-probe.ts'
import type { TcpProbeDeps } from './kinds/run-tcp-probe.ts'
import { PROBE_USER_AGENT } from './probe-outcome.ts'
import type { ProbeOutcome } from './probe-outcome.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

export interface RunProbeDeps extends ExecProbeDeps, GrpcProbeDeps, HttpProbeDeps, TcpProbeDeps {
  readonly network: HttpProbeDeps['network'] & TcpProbeDeps['network']
  readonly clock: Clock
}

export interface ProbeRequest {
  readonly probe: Probe
  readonly container: Container
  readonly containerId: string
  /** Empty while the pod has no address. */
  readonly podIp: string
}

// What keeps us from asking has often passed at once.
const ATTEMPTS = 3
const NO_ADDRESS: ProbeOutcome = { result: 'failure', output: 'Cannot connect: the pod has no address' }

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
    return { result: 'error', output: errorMessage(error), state: 'unknown' }
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
    if (podIp === '' && (httpGet.host ?? '') === '') return NO_ADDRESS
    const request = toHttpGetRequest(httpGet, { container, podIp, userAgent: PROBE_USER_AGENT })
    return await runHttpProbe(deps, { request, timeoutSeconds }, signal)
  }
  if (tcpSocket !== undefined) {
    const host = (tcpSocket.host ?? '') === '' ? podIp : (tcpSocket.host ?? '')
    const port = resolvePort(tcpSocket.port, container)
    return host === '' ? NO_ADDRESS : await runTcpProbe(deps, { host, port, timeoutSeconds }, signal)
  }
  if (grpc !== undefined) {
    if (podIp === '') return NO_ADDRESS
    return await runGrpcProbe(
      deps,
      { host: podIp, port: grpc.port, service: grpc.service ?? '', timeoutSeconds },
      signal,
    )
  }
  throw new Error(`Cannot probe container "${container.name}": expected exec, httpGet, tcpSocket or grpc`)
}
