import type { Node, Taint } from '../../model/generated/core-v1.ts'
import { computePortConflict } from '../../model/pod/compute-port-conflict.ts'
import { matchesNodeAffinity } from '../../model/pod/matching/matches-node-affinity.ts'
import { toleratesTaint } from '../../model/pod/matching/tolerates-taint.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import { computeShortages } from '../../model/resources/fit/compute-shortages.ts'
import { computeUnknownResources } from '../../model/resources/fit/compute-unknown-resources.ts'
import type { NodePlace, Unfit } from './cluster-view.ts'
import { computeHeldPod } from '../../model/resources/compute-held-pod.ts'
import { computeNeighbourFit } from './compute-neighbour-fit.ts'
import { computeVolumeFit } from './compute-volume-fit.ts'

type Check = (pod: Pod, place: NodePlace) => Unfit | undefined

const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }
/** The taints that a cluster gives a node with these conditions. */
const CONDITION_TAINTS: readonly (readonly [type: string, status: string, key: string])[] = [
  ['Ready', 'False', 'node.kubernetes.io/not-ready'],
  ['Ready', 'Unknown', 'node.kubernetes.io/unreachable'],
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure'],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure'],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable'],
]

/** In upstream's order; the first that is against the pod counts alone. */
const CHECKS: readonly Check[] = [
  checkUnschedulable,
  checkTaints,
  checkNodeAffinity,
  checkPorts,
  checkResources,
  computeVolumeFit,
  computeNeighbourFit,
]

/** Why the pod cannot run at the place; undefined when it can. */
export function computeFit(pod: Pod, place: NodePlace): Unfit | undefined {
  for (const check of CHECKS) {
    const unfit = check(pod, place)
    if (unfit !== undefined) return unfit
  }
  return undefined
}

function checkUnschedulable({ spec }: Pod, { node }: NodePlace): Unfit | undefined {
  if (node.spec?.unschedulable !== true || toleratesTaint(spec.tolerations, UNSCHEDULABLE, { comparisons: false }))
    return undefined
  return { reasons: ['node(s) were unschedulable'], isUpToPods: false }
}

function checkTaints({ spec }: Pod, { node }: NodePlace): Unfit | undefined {
  const isTolerated = listTaints(node).every(
    (taint) =>
      (taint.effect !== 'NoSchedule' && taint.effect !== 'NoExecute') ||
      toleratesTaint(spec.tolerations, taint, { comparisons: false }),
  )
  return isTolerated ? undefined : { reasons: ['node(s) had untolerated taint(s)'], isUpToPods: false }
}

/** Its own, and those that its conditions stand for: no other part puts these on the node of a machine alone. */
function listTaints({ spec, status }: Node): readonly Taint[] {
  const conditions = status?.conditions ?? []
  const derived = CONDITION_TAINTS.filter(([type, value]) =>
    conditions.some((condition) => condition.type === type && condition.status === value),
  )
  return [...(spec?.taints ?? []), ...derived.map(([, , key]) => ({ key, effect: 'NoSchedule' }))]
}

function checkNodeAffinity(pod: Pod, { node }: NodePlace): Unfit | undefined {
  if (matchesNodeAffinity(pod, node)) return undefined
  return { reasons: ["node(s) didn't match Pod's node affinity/selector"], isUpToPods: false }
}

function checkPorts(pod: Pod, { present }: NodePlace): Unfit | undefined {
  if (!computePortConflict(pod, present)) return undefined
  return { reasons: ["node(s) didn't have free ports for the requested pod ports"], isUpToPods: true }
}

function checkResources(pod: Pod, { node, present }: NodePlace): Unfit | undefined {
  const allocatable = parseAmounts(node.status?.allocatable)
  const shortages = computeShortages(pod, { otherPods: present.map(computeHeldPod), allocatable })
  // The agent lets the latter pass: a cluster may manage them elsewhere. Here nothing else does.
  const unknown = computeUnknownResources(pod, allocatable)
  if (shortages.length + unknown.length === 0) return undefined
  const resources = [...shortages.map(({ resource }) => resource), ...unknown]
  return {
    reasons: resources.map((resource) => (resource === 'pods' ? 'Too many pods' : `Insufficient ${resource}`)),
    isUpToPods: unknown.length === 0 && shortages.every(({ requested, capacity }) => requested <= capacity),
  }
}
