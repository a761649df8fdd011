import type { Pod } from '../../model/pod/pod.ts'
import { priorityOf } from './cluster-view.ts'
import type { ClusterView, NodePlace } from './cluster-view.ts'
import { computeFit } from './compute-fit.ts'
import { computeClaimProblem, computeClaimsToBind } from './compute-volume-fit.ts'
import type { ClaimToBind } from './compute-volume-fit.ts'
import { computeVictims, formatReasons } from './compute-victims.ts'

/** What becomes of a pod that has no node. */
export type SchedulingDecision =
  | { readonly kind: 'bind'; readonly pod: Pod; readonly nodeName: string }
  /** The pod gets the node when its claims have their volumes, which are chosen or made for it now. */
  | { readonly kind: 'claim'; readonly pod: Pod; readonly nodeName: string; readonly claims: readonly ClaimToBind[] }
  | {
      readonly kind: 'wait'
      readonly pod: Pod
      readonly message: string
      /** The node that the pod gets once its victims have left. */
      readonly nominatedNodeName: string | undefined
      /** Pods that have to leave for it. */
      readonly victims: readonly Pod[]
      /** Where the API has what the pod waits for, when that was not found. */
      readonly missing?: string | undefined
    }

/** The name by which pods ask for this scheduler; those without one do too. */
export const SCHEDULER_NAME = 'default-scheduler'
/** The reason in the condition DisruptionTarget of a pod that has to leave for another. */
export const PREEMPTION_REASON = 'PreemptionByScheduler'

const NO_NODES = 'no nodes available to schedule pods'
const NOT_HELPFUL = 'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.'

/** What becomes of every pod that waits for a node, the most important first: each counts for those after it. */
export function computeSchedule(view: ClusterView): readonly SchedulingDecision[] {
  const waiting = view.pods.filter(isWaiting).toSorted(byTurn)
  const { node } = view
  if (node === undefined) return waiting.map((pod) => wait(pod, NO_NODES))
  const nodeName = node.metadata?.name ?? ''
  const present = view.pods.filter((pod) => pod.spec.nodeName === nodeName && !isOver(pod))
  const promised = new Set(waiting.filter(({ status }) => status?.nominatedNodeName === nodeName))
  const leaving = new Set(present.filter(isPreempted))
  return waiting.map((pod) => {
    promised.delete(pod)
    const before = [...promised].filter((other) => priorityOf(other) >= priorityOf(pod))
    const place = { ...view, node, present: [...present, ...before] }
    const decision = decide(pod, place, leaving)
    if (decision.kind !== 'wait') present.push(pod)
    else if (decision.nominatedNodeName !== undefined) promised.add(pod)
    if (decision.kind === 'wait') for (const victim of decision.victims) leaving.add(victim)
    return decision
  })
}

/** Waits for this scheduler, and for nothing else before it. */
function isWaiting({ metadata, spec, status }: Pod): boolean {
  return (
    !spec.nodeName &&
    (spec.schedulerName ?? SCHEDULER_NAME) === SCHEDULER_NAME &&
    (spec.schedulingGates?.length ?? 0) === 0 &&
    metadata.deletionTimestamp === undefined &&
    status?.phase !== 'Succeeded' &&
    status?.phase !== 'Failed'
  )
}

function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

function isPreempted({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    status?.conditions?.some(({ type, reason }) => type === 'DisruptionTarget' && reason === PREEMPTION_REASON) === true
  )
}

function byTurn(a: Pod, b: Pod): number {
  return (
    priorityOf(b) - priorityOf(a) ||
    createdAt(a) - createdAt(b) ||
    (`${a.metadata.namespace}/${a.metadata.name}` < `${b.metadata.namespace}/${b.metadata.name}` ? -1 : 1)
  )
}

function createdAt({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0
}

function decide(pod: Pod, place: NodePlace, leaving: ReadonlySet<Pod>): SchedulingDecision {
  const nodeName = place.node.metadata?.name ?? ''
  const problem = computeClaimProblem(pod, place)
  if (problem !== undefined) {
    const { message, missing } = problem
    return { ...wait(pod, `0/1 nodes are available: ${message}. ${NOT_HELPFUL}`), missing }
  }
  const unfit = computeFit(pod, place)
  if (unfit === undefined) {
    const claims = computeClaimsToBind(pod, place)
    return claims.length === 0 ? { kind: 'bind', pod, nodeName } : { kind: 'claim', pod, nodeName, claims }
  }
  const why = formatReasons(unfit.reasons)
  if (pod.spec.preemptionPolicy === 'Never')
    return wait(pod, `${why} preemption: not eligible due to preemptionPolicy=Never.`)
  // Those that leave already leave for this pod too, if they are enough.
  const later = { ...place, present: place.present.filter((other) => !leaving.has(other)) }
  const isPromised = pod.status?.nominatedNodeName === nodeName
  if (isPromised && place.present.some((other) => leaving.has(other) && priorityOf(other) < priorityOf(pod))) {
    const waits = `${why} preemption: not eligible due to a terminating pod on the nominated node.`
    return { kind: 'wait', pod, message: waits, nominatedNodeName: nodeName, victims: [] }
  }
  const stillUnfit = computeFit(pod, later)
  if (stillUnfit === undefined) return { kind: 'wait', pod, message: why, nominatedNodeName: nodeName, victims: [] }
  const preemption = computeVictims(pod, later, stillUnfit)
  if (preemption.kind === 'in vain') return wait(pod, `${why} preemption: ${preemption.why}`)
  return { kind: 'wait', pod, message: why, nominatedNodeName: nodeName, victims: preemption.victims }
}

function wait(pod: Pod, message: string): Extract<SchedulingDecision, { kind: 'wait' }> {
  return { kind: 'wait', pod, message, nominatedNodeName: undefined, victims: [] }
}
