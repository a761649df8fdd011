import type { Node } from '../../model/generated/core-v1.ts'
import { matchesNodeAffinity } from '../../model/pod/matching/matches-node-affinity.ts'
import { isStaticPod } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { computePortConflict } from '../../model/pod/compute-port-conflict.ts'
import type { Rejection } from './rejection.ts'
import { toleratesTaint } from '../../model/pod/matching/tolerates-taint.ts'

/** Where a pod is to run, and beside whom. */
export interface PlaceInfo {
  readonly node: Node
  readonly otherPods: readonly Pod[]
  /** Those that are not desired any more, and still have their ports. */
  readonly endingPods: readonly Pod[]
  /** Tolerations may compare numbers (feature gate TaintTolerationComparisonOperators). */
  readonly taintComparisons: boolean
}

/** All reasons but the lack of resources for which a pod and a node do not go together, in the order of the Go kubelet. */
export function computeMismatches(pod: Pod, info: PlaceInfo): readonly Rejection[] {
  const { node, otherPods, endingPods, taintComparisons } = info
  const { nodeName = '' } = pod.spec
  // A static pod is judged again when they have ended; for a pod of the API a rejection is for good, and its cluster thinks that the port is free.
  const neighbours = isStaticPod(pod) ? [...otherPods, ...endingPods] : otherPods
  return [
    ...unless(matchesNodeAffinity(pod, node), 'NodeAffinity', "node(s) didn't match Pod's node affinity/selector"),
    ...unless(
      nodeName === '' || nodeName === node.metadata?.name,
      'NodeName',
      "node(s) didn't match the requested node name",
    ),
    ...unless(
      !computePortConflict(pod, neighbours),
      'NodePorts',
      "node(s) didn't have free ports for the requested pod ports",
    ),
    ...unless(
      toleratesEviction(pod, node, taintComparisons),
      'TaintToleration',
      "node(s) had taints that the pod didn't tolerate",
    ),
  ]
}

function unless(holds: boolean, reason: string, why: string): readonly Rejection[] {
  return holds ? [] : [{ reason, message: `Predicate ${reason} failed: ${why}` }]
}

/** Only a taint that would drive the pod away again keeps it out: the others are for schedulers. */
function toleratesEviction(pod: Pod, { spec }: Node, comparisons: boolean): boolean {
  return (
    isStaticPod(pod) ||
    (spec?.taints ?? []).every(
      (taint) => taint.effect !== 'NoExecute' || toleratesTaint(pod.spec.tolerations, taint, { comparisons }),
    )
  )
}
