import type { LabelSelector, PodAffinityTerm, TopologySpreadConstraint } from '../../model/generated/core-v1.ts'
import { matchesLabelSelector } from '../../model/pod/matching/matches-label-selector.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { NodePlace, Unfit } from './cluster-view.ts'

const SPREAD = "node(s) didn't match pod topology spread constraints"

/** Why the pods beside it keep a pod from the node. There is one node, so every topology has one domain at most. */
export function computeNeighbourFit(pod: Pod, place: NodePlace): Unfit | undefined {
  return computeSpreadFit(pod, place) ?? computeAffinityFit(pod, place)
}

function computeSpreadFit(pod: Pod, { node, present }: NodePlace): Unfit | undefined {
  for (const constraint of pod.spec.topologySpreadConstraints ?? []) {
    if (constraint.whenUnsatisfiable !== 'DoNotSchedule') continue
    if (node.metadata?.labels?.[constraint.topologyKey] === undefined)
      return { reasons: [`${SPREAD} (missing required label)`], isUpToPods: false }
    const selector = withLabelKeys(constraint, pod)
    const matching = present.filter((other) => isCounted(other, pod) && matchesLabelSelector(selector, labelsOf(other)))
    const own = matchesLabelSelector(selector, labelsOf(pod)) ? 1 : 0
    // Where more domains are asked for than there are, the emptiest counts as empty.
    const fewest = (constraint.minDomains ?? 1) > 1 ? 0 : matching.length
    if (matching.length + own - fewest > constraint.maxSkew) return { reasons: [SPREAD], isUpToPods: true }
  }
  return undefined
}

function isCounted(other: Pod, { metadata }: Pod): boolean {
  return other.metadata.namespace === metadata.namespace && other.metadata.deletionTimestamp === undefined
}

function withLabelKeys({ labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint, pod: Pod): LabelSelector {
  return addKeys(labelSelector ?? { matchExpressions: [{ key: '', operator: 'Exists' }] }, pod, matchLabelKeys, 'In')
}

function computeAffinityFit(pod: Pod, place: NodePlace): Unfit | undefined {
  const { present } = place
  const affinity = pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  if (!isAttracted(pod, affinity, place))
    return { reasons: ["node(s) didn't match pod affinity rules"], isUpToPods: false }
  if (antiTermsOf(pod).some((term) => present.some((other) => concerns(term, pod, other, place))))
    return { reasons: ["node(s) didn't match pod anti-affinity rules"], isUpToPods: true }
  if (present.some((other) => antiTermsOf(other).some((term) => concerns(term, other, pod, place))))
    return { reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"], isUpToPods: true }
  return undefined
}

/** The first of pods that attract each other has no other to go to, and may go anywhere. */
function isAttracted(pod: Pod, terms: readonly PodAffinityTerm[], place: NodePlace): boolean {
  if (terms.some(({ topologyKey }) => !hasTopology(place, topologyKey))) return false
  const matchesAll = (other: Pod) => terms.every((term) => concerns(term, pod, other, place))
  return place.present.some(matchesAll) || matchesAll(pod)
}

function antiTermsOf({ spec }: Pod): readonly PodAffinityTerm[] {
  return spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
}

/** Whether the term of a pod is about the other one, on this node. */
function concerns(term: PodAffinityTerm, owner: Pod, other: Pod, place: NodePlace): boolean {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term
  if (!hasTopology(place, term.topologyKey) || labelSelector === undefined) return false
  const keyed = addKeys(addKeys(labelSelector, owner, matchLabelKeys, 'In'), owner, mismatchLabelKeys, 'NotIn')
  return isInNamespaces(term, owner, other, place) && matchesLabelSelector(keyed, labelsOf(other))
}

function isInNamespaces(
  { namespaces = [], namespaceSelector }: PodAffinityTerm,
  owner: Pod,
  { metadata }: Pod,
  place: NodePlace,
): boolean {
  if (namespaces.length === 0 && namespaceSelector === undefined) return metadata.namespace === owner.metadata.namespace
  if (namespaces.includes(metadata.namespace)) return true
  const namespace = place.namespaces.find(({ metadata: own }) => own?.name === metadata.namespace)
  return matchesLabelSelector(namespaceSelector, namespace?.metadata?.labels ?? {})
}

function hasTopology({ node }: NodePlace, key: string): boolean {
  return node.metadata?.labels?.[key] !== undefined
}

/** The selector, also for the pod's own values of these labels. */
function addKeys(selector: LabelSelector, pod: Pod, keys: readonly string[], operator: 'In' | 'NotIn'): LabelSelector {
  const added = keys.flatMap((key) => {
    const value = labelsOf(pod)[key]
    return value === undefined ? [] : [{ key, operator, values: [value] }]
  })
  return { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), ...added] }
}

function labelsOf({ metadata }: Pod): Readonly<Record<string, string>> {
  return metadata.labels ?? {}
}
