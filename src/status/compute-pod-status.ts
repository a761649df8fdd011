import type { PodStatus } from '../model/generated/core-v1.ts'
import { computeConditions } from './compute-conditions.ts'
import { computeContainerStatuses } from './compute-container-statuses.ts'
import { computePhase } from './compute-phase.ts'
import type { PodPhase } from './compute-phase.ts'
import { toApiTime } from './status-input.ts'
import type { StatusInput } from './status-input.ts'

/** The whole status of a pod from what is wanted, what is observed and what was said before. Total: there is always an answer. */
export function computePodStatus(input: StatusInput): PodStatus {
  const { pod, observed, previous } = input
  const regular = computeContainerStatuses(input, 'regular', pod.spec.containers)
  const init = computeContainerStatuses(input, 'init', pod.spec.initContainers ?? [])
  const ephemeral = computeContainerStatuses(input, 'ephemeral', pod.spec.ephemeralContainers ?? [])
  const [sandbox] = observed.sandboxes
  const usable = sandbox?.ready === true && (sandbox.hostNetwork || sandbox.ips?.length !== 0)
  const regularInSandbox = observed.containers.some(
    ({ name, sandboxId }) =>
      sandboxId === sandbox?.id && pod.spec.containers.some((container) => container.name === name),
  )
  const computed = computePhase({ pod, init, regular, regularInSandbox, ended: input.ended })
  const verdict = computeVerdict(input, computed)
  const conditions = computeConditions({
    pod,
    phase: verdict.phase,
    init,
    regular,
    sandboxUsable: usable,
    previous: previous?.conditions ?? pod.status?.conditions ?? [],
    now: input.now,
  })
  const { generation } = pod.metadata
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    phase: verdict.phase,
    conditions,
    ...(verdict.message === undefined ? {} : { message: verdict.message }),
    ...(verdict.reason === undefined ? {} : { reason: verdict.reason }),
    ...hostIps(input.nodeIps),
    ...podIps(input, usable ? (sandbox.ips ?? []) : []),
    startTime: previous?.startTime ?? pod.status?.startTime ?? toApiTime(input.now),
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: regular,
    qosClass: pod.status?.qosClass ?? previous?.qosClass ?? input.qosClass,
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: ephemeral }),
  }
}

interface PhaseVerdict {
  readonly phase: PodPhase
  readonly reason?: string | undefined
  readonly message?: string | undefined
}

/** A pod that ended stays ended; a phase that is not new keeps the words that came with it. */
function computeVerdict(input: StatusInput, computed: PodPhase): PhaseVerdict {
  const { override, previous, pod } = input
  const ended = [pod.status?.phase, previous?.phase].find((phase) => phase === 'Succeeded' || phase === 'Failed')
  if (override !== undefined && ended === undefined) {
    return { phase: override.phase as PodPhase, reason: override.reason, message: override.message }
  }
  const phase = ended ?? computed
  const said = [previous, pod.status].find((status) => status?.phase === phase && status.reason !== undefined)
  return { phase, reason: said?.reason, message: said?.message }
}

function hostIps(nodeIps: readonly string[]): Pick<PodStatus, 'hostIP' | 'hostIPs'> {
  const [first] = nodeIps
  return first === undefined ? {} : { hostIP: first, hostIPs: nodeIps.map((ip) => ({ ip })) }
}

/** After the sandbox died the last known addresses stay. */
function podIps(input: StatusInput, sandboxIps: readonly string[]): Pick<PodStatus, 'podIP' | 'podIPs'> {
  const known = input.previous ?? input.pod.status
  const ips = input.pod.spec.hostNetwork === true ? input.nodeIps : sandboxIps
  const [first] = ips
  if (first !== undefined) return { podIP: first, podIPs: ips.map((ip) => ({ ip })) }
  return known?.podIP === undefined
    ? {}
    : { podIP: known.podIP, ...(known.podIPs === undefined ? {} : { podIPs: known.podIPs }) }
}
