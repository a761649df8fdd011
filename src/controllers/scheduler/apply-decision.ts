import type { Clock } from '../../base/async/clock.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import type { PodCondition } from '../../model/generated/core-v1.ts'
import { podLogName } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { toApiTime } from '../../model/text/api-time.ts'
import { isNotFound } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { SELECTED_NODE } from '../../model/storage/storage-classes.ts'
import { PREEMPTION_REASON, SCHEDULER_NAME } from './compute-schedule.ts'
import type { SchedulingDecision } from './compute-schedule.ts'
import type { ClaimToBind } from './compute-volume-fit.ts'

export interface DecisionDeps {
  readonly client: KubeClient
  readonly events: PodEvents
  readonly clock: Clock
}

// Longer ones are refused by the events API of a cluster.
const LONGEST_NOTE = 1024

/** Writes what was decided about a pod. What the pod says already is not written again. */
export async function applyDecision(
  deps: DecisionDeps,
  decision: SchedulingDecision,
  signal: AbortSignal,
): Promise<void> {
  if (decision.kind === 'bind') return await bind(deps, decision.pod, decision.nodeName, signal)
  if (decision.kind === 'claim') {
    for (const claim of decision.claims) await bindClaim(deps, claim, decision.nodeName, signal)
    return
  }
  for (const victim of decision.victims) await preempt(deps, victim, decision, signal)
  await reportWait(deps, decision, signal)
}

async function bind({ client, events }: DecisionDeps, pod: Pod, nodeName: string, signal: AbortSignal): Promise<void> {
  const { name, uid } = pod.metadata
  const body = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, uid },
    target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
  }
  await client.send({ method: 'POST', path: `${pathOf(pod)}/binding`, body }, signal)
  const message = `Successfully assigned ${podLogName(pod)} to ${nodeName}`
  events.record(pod, { type: 'Normal', reason: 'Scheduled', message })
}

/** Reserves the volume for the claim, or asks for one to be made on the node; the API and the provisioner do the rest. */
async function bindClaim(
  { client }: DecisionDeps,
  { claim, volume }: ClaimToBind,
  nodeName: string,
  signal: AbortSignal,
): Promise<void> {
  const contentType = 'application/merge-patch+json'
  const { namespace, name, uid } = claim.metadata ?? {}
  if (volume === undefined) {
    if (claim.metadata?.annotations?.[SELECTED_NODE] === nodeName) return
    const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`
    const body = { metadata: { uid, annotations: { [SELECTED_NODE]: nodeName } } }
    await client.send({ method: 'PATCH', path, contentType, body }, signal)
    return
  }
  const { name: volumeName, uid: volumeUid, resourceVersion } = volume.metadata ?? {}
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid }
  const annotations = { 'pv.kubernetes.io/bound-by-controller': 'yes' }
  const body = { metadata: { uid: volumeUid, resourceVersion, annotations }, spec: { claimRef } }
  await client.send({ method: 'PATCH', path: `/api/v1/persistentvolumes/${volumeName}`, contentType, body }, signal)
}

async function reportWait(
  deps: DecisionDeps,
  { pod, message, nominatedNodeName }: Extract<SchedulingDecision, { kind: 'wait' }>,
  signal: AbortSignal,
): Promise<void> {
  const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const isReported = before?.status === 'False' && before.reason === 'Unschedulable' && before.message === message
  if (isReported && (pod.status?.nominatedNodeName || undefined) === nominatedNodeName) return
  const now = toApiTime(deps.clock.now())
  const condition: PodCondition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    lastTransitionTime: before?.status === 'False' ? (before.lastTransitionTime ?? now) : now,
  }
  // Null removes a promise that holds no more.
  await patchStatus(deps, pod, { conditions: [condition], nominatedNodeName: nominatedNodeName ?? null }, signal)
  if (!isReported) deps.events.record(pod, { type: 'Warning', reason: 'FailedScheduling', message: cut(message) })
}

async function preempt(
  deps: DecisionDeps,
  victim: Pod,
  { pod }: Extract<SchedulingDecision, { kind: 'wait' }>,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = victim.metadata
  const condition: PodCondition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: PREEMPTION_REASON,
    message: `${SCHEDULER_NAME}: preempting to accommodate a higher priority pod`,
    lastTransitionTime: toApiTime(deps.clock.now()),
  }
  try {
    await patchStatus(deps, victim, { conditions: [condition] }, signal)
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } }
    await deps.client.send({ method: 'DELETE', path: pathOf(victim), body }, signal)
  } catch (error) {
    // It has left by itself.
    if (isNotFound(error)) return
    throw error
  }
  const message = `Preempted by pod ${pod.metadata.uid} on node ${victim.spec.nodeName}`
  deps.events.record(victim, { type: 'Normal', reason: 'Preempted', message })
}

async function patchStatus({ client }: DecisionDeps, pod: Pod, status: object, signal: AbortSignal): Promise<void> {
  const { uid } = pod.metadata
  await client.send(
    {
      method: 'PATCH',
      path: `${pathOf(pod)}/status`,
      contentType: 'application/strategic-merge-patch+json',
      body: { metadata: { uid }, status },
    },
    signal,
  )
}

function pathOf({ metadata }: Pod): string {
  return `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`
}

function cut(message: string): string {
  return message.length <= LONGEST_NOTE ? message : `${message.slice(0, LONGEST_NOTE - 4)} ...`
}
