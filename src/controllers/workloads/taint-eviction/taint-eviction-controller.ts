import { sameValue } from '../../../base/document/same-value.ts'
import type { Node, Pod, PodCondition } from '../../../model/generated/core-v1.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import { isNotFound } from '../../../protocols/kube-api/kube-client.ts'
import { createController, createQueue } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { keyOf, parseWorkKey } from '../../engine/live-object.ts'
import type { Live, WorkKey } from '../../engine/live-object.ts'
import { createObjectEvents } from '../../engine/object-events.ts'
import type { RecordEvent } from '../../engine/object-events.ts'
import type { NextTurn } from '../../engine/work-queue.ts'
import { computeTaintEviction, evictingTaints } from './compute-taint-eviction.ts'

const REASON = 'TaintManagerEviction'

/** A pod whose time on the node ends. */
interface Waiting {
  readonly pod: Live<Pod>
  /** On the monotonic clock. */
  readonly dueAt: number
}

type Eviction = Pick<ControllerDeps, 'clock' | 'pods' | 'nodes'> & {
  readonly record: RecordEvent
  /** Ends with the pod; a restart begins the times again. */
  readonly waiting: Map<WorkKey, Waiting>
}

/** Deletes the pods that do not tolerate a NoExecute taint of their node, or no longer. */
export function createTaintEvictionController(deps: ControllerDeps): Controller {
  const { clock, pods, nodes } = deps
  const queue = createQueue('taint-eviction', deps)
  const record = createObjectEvents(deps.record, 'taint-eviction-controller', pods.kind)
  const eviction: Eviction = { clock, pods, nodes, record, waiting: new Map() }
  pods.known.onChange((after, before) => {
    const pod = after ?? before
    // Most changes are those of the status.
    if (pod !== undefined && !sameValue(judgedOf(after), judgedOf(before))) queue.add(keyOf(pod))
  })
  nodes.known.onChange((after, before) => {
    const name = (after ?? before)?.metadata.name
    if (sameValue(taintsOf(after), taintsOf(before))) return
    for (const pod of pods.known.all()) if (pod.spec.nodeName === name) queue.add(keyOf(pod))
  })
  return createController({
    name: 'taint-eviction',
    queue,
    reads: [nodes, pods],
    reconcile: (key, signal) => reconcile(eviction, key, signal),
  })
}

/** The parts of a pod that decide. */
function judgedOf(pod: Live<Pod> | undefined) {
  if (pod === undefined) return undefined
  const { metadata, spec } = pod
  const isLeaving = metadata.deletionTimestamp !== undefined
  return { uid: metadata.uid, nodeName: spec.nodeName, tolerations: spec.tolerations, isLeaving }
}

function taintsOf(node: Node | undefined) {
  return evictingTaints(node?.spec?.taints)
}

async function reconcile(eviction: Eviction, key: WorkKey, signal: AbortSignal): Promise<NextTurn> {
  const { clock, pods, nodes, waiting } = eviction
  const { namespace, name } = parseWorkKey(key)
  const pod = pods.known.get(namespace, name)
  const before = waiting.get(key)
  if (before !== undefined && before.pod.metadata.uid !== pod?.metadata.uid) cancel(eviction, before.pod)
  if (pod === undefined) return undefined
  const now = clock.monotonic()
  const step = computeTaintEviction({
    tolerations: pod.spec.tolerations,
    taints: nodes.known.get('', pod.spec.nodeName ?? '')?.spec?.taints,
    isLeaving: pod.metadata.deletionTimestamp !== undefined,
    dueAt: waiting.get(key)?.dueAt,
    now,
  })
  if (step.kind === 'wait') {
    waiting.set(key, { pod, dueAt: step.dueAt })
    return { afterMs: step.dueAt - now }
  }
  if (step.isCancelled) cancel(eviction, pod)
  if (step.kind === 'evict') await evict(eviction, pod, signal)
  return undefined
}

function cancel({ waiting, record }: Eviction, pod: Live<Pod>): void {
  waiting.delete(keyOf(pod))
  record(pod, 'Normal', REASON, `Cancelling deletion of Pod ${keyOf(pod)}`)
}

async function evict({ clock, pods, waiting, record }: Eviction, pod: Live<Pod>, signal: AbortSignal): Promise<void> {
  try {
    // First the reason, then the end: no reader sees the pod end without it.
    await pods.patchStatus(pod, { conditions: [toCondition(pod, clock.now())] }, signal)
    await pods.remove(pod, {}, signal)
  } catch (error) {
    // It has left by itself.
    if (isNotFound(error)) return
    throw error
  }
  // Not before: a pod whose time is over does not get another one when this has to be tried again.
  waiting.delete(keyOf(pod))
  record(pod, 'Normal', REASON, `Marking for deletion Pod ${keyOf(pod)}`)
}

function toCondition({ metadata, status }: Live<Pod>, now: number): PodCondition {
  const present = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
  return {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    lastTransitionTime: (present?.status === 'True' ? present.lastTransitionTime : undefined) ?? toApiTime(now),
  }
}
