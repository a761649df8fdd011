import { computeQosClass } from '../../../model/resources/compute-qos-class.ts'
import { parseLogTail } from '../../logs/parse-log-tail.ts'
import type { ObservedContainer, ObservedPod } from '../../../model/pod/observed-pod.ts'
import { allContainers, containerKind } from '../../../model/pod/pod-containers.ts'
import type { PodCondition, PodStatus } from '../../../model/generated/core-v1.ts'
import { CONFIG_SEEN_ANNOTATION } from '../../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import { computePodStatus } from '../../status/compute-pod-status.ts'
import { usesLog } from '../../status/compute-termination-message.ts'
import type { StatusInput, StatusSettings } from '../../status/status-input.ts'
import type { PodProbes } from '../../probes/pod-probes.ts'
import { computeDeadlineOverride } from '../decide/compute-deadline.ts'
import type { PodHistory } from '../pod-history.ts'
import type { Clock } from '../../../base/async/clock.ts'
import type { PodLifeMetrics } from '../../../metrics/pod-life-metrics.ts'
import type { PodStartMetrics } from '../../../metrics/pod-start-metrics.ts'
import type { PodAllocations } from '../../allocations/pod-allocations.ts'
import type { PodInjections } from '../start/pod-injections.ts'

export interface UpdateStatusDeps {
  readonly allocations: Pick<PodAllocations, 'actuated'>
  readonly resizes: {
    /** What the status of a pod says of its resizes. */
    conditions(uid: PodUid): readonly PodCondition[]
  }
  readonly injections: Pick<PodInjections, 'health'>
  readonly files: {
    /** The end of the termination message that a container left; empty when there is none. */
    readTerminationLog(path: string, maxBytes: number): Promise<string>
    /** The end of a container's log; empty when there is none. */
    readLogTail(path: string, maxBytes: number, containerId: string): Promise<Uint8Array>
  }
  readonly node: { readonly container: { readonly ips: readonly string[] }; readonly status: StatusSettings }
  readonly metrics: Pick<PodStartMetrics, 'podStart'> & Pick<PodLifeMetrics, 'containerEnded'>
  readonly clock: Clock
}

const TERMINATION_MESSAGE_BYTES = 4096
const LOG_LIMITS = { entries: 80, bytes: 2048 }
// Holds as many entries with as many bytes, and the longest entry that runtimes write.
const LOG_TAIL_BYTES = 64 * 1024

export interface StatusUpdate {
  /** With the resources that it was granted. */
  readonly pod: Pod
  readonly observed: ObservedPod
  readonly ended: boolean
  readonly override?: StatusInput['override']
}

export interface StatusContext {
  readonly deps: UpdateStatusDeps
  readonly runtimeName: string
  readonly history: PodHistory
  readonly probes: Pick<PodProbes, 'status'>
}

/** Computes the status of a pod again and keeps it. */
export async function updatePodStatus(context: StatusContext, update: StatusUpdate): Promise<void> {
  const { deps, runtimeName, history, probes } = context
  const { pod, observed, ended, override } = update
  await readTerminationMessages(deps, { pod, observed }, history)
  const before = history.status
  const now = deps.clock.now()
  history.status = computePodStatus({
    pod,
    observed,
    previous: before,
    waiting: history.waiting,
    ...probes.status(pod, observed),
    terminationMessages: history.terminationMessages,
    actuated: deps.allocations.actuated(pod.metadata.uid),
    resize: deps.resizes.conditions(pod.metadata.uid),
    deviceHealth: deps.injections.health(pod),
    ...deps.node.status,
    ended,
    runtimeName,
    nodeIps: deps.node.container.ips,
    qosClass: computeQosClass(pod),
    override:
      override ??
      history.eviction ??
      (ended ? computeDeadlineOverride(pod, { status: before, observed }, now) : undefined),
    now,
  })
  noteStart(deps, { pod, isFirst: before === undefined }, history)
  if (before !== undefined) countEnds(deps, pod, before, history.status)
}

/** Ends that this agent saw, each once. */
function countEnds({ metrics }: UpdateStatusDeps, pod: Pod, before: PodStatus, now: PodStatus): void {
  const known = new Map(listStatuses(before).map(({ name, state }) => [name, state?.terminated?.containerID]))
  for (const { name, state } of listStatuses(now)) {
    const { terminated } = state ?? {}
    if (terminated === undefined || known.get(name) === terminated.containerID) continue
    const { exitCode, reason = '' } = terminated
    metrics.containerEnded(containerKind(pod, name), { exitCode, reason })
  }
}

function listStatuses({
  initContainerStatuses = [],
  containerStatuses = [],
  ephemeralContainerStatuses = [],
}: PodStatus) {
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
}

/** A pod that runs when it is first observed was started by an earlier agent, at some other time. */
function noteStart(
  { clock, metrics }: UpdateStatusDeps,
  { pod, isFirst }: { readonly pod: Pod; readonly isFirst: boolean },
  history: PodHistory,
): void {
  if (history.hasRun || history.status?.phase !== 'Running') return
  history.hasRun = true
  const seenAt = Date.parse(pod.metadata.annotations?.[CONFIG_SEEN_ANNOTATION] ?? '')
  if (!isFirst && Number.isFinite(seenAt)) metrics.podStart((clock.now() - seenAt) / 1000)
}

/** Each end is read once, and forgotten with its container. */
async function readTerminationMessages(
  deps: UpdateStatusDeps,
  { pod, observed }: Pick<StatusUpdate, 'pod' | 'observed'>,
  history: PodHistory,
): Promise<void> {
  const exited = observed.containers.filter(({ state }) => state === 'exited')
  for (const id of history.terminationMessages.keys())
    if (!exited.some((container) => container.id === id)) history.terminationMessages.delete(id)
  for (const container of exited) {
    if (!history.terminationMessages.has(container.id))
      history.terminationMessages.set(container.id, await readMessageOf(deps, pod, container))
  }
}

async function readMessageOf({ files }: UpdateStatusDeps, pod: Pod, ended: ObservedContainer): Promise<string> {
  const { name, terminationLog, logPath } = ended
  const words = terminationLog === '' ? '' : await files.readTerminationLog(terminationLog, TERMINATION_MESSAGE_BYTES)
  const spec = allContainers(pod).find(({ container }) => container.name === name)?.container
  if (logPath === '' || !usesLog(spec?.terminationMessagePolicy, ended, words)) return words
  return parseLogTail(await files.readLogTail(logPath, LOG_TAIL_BYTES, ended.id), LOG_LIMITS)
}
