import {
  CONFIG_MIRROR_ANNOTATION,
  CONFIG_SEEN_ANNOTATION,
  CONFIG_SOURCE_ANNOTATION,
  podFullName,
} from '../../model/pod/pod.ts'
import type { PodUpdate } from '../../model/pod/pod-update.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { sameValue } from '../../base/document/same-value.ts'

/** A pod of a source: as it came, to see quickly that nothing changed, and as the agent holds it. */
interface KnownPod {
  readonly received: Pod
  readonly pod: Pod
}

export type KnownPods = ReadonlyMap<PodUid, KnownPod>

/** How to come from the pods known of a source to the ones it has now. */
export interface SourceDiff {
  readonly updates: readonly PodUpdate[]
  readonly known: KnownPods
  /** Pods left out because another one of the set has their name. */
  readonly duplicates: readonly Pod[]
}

/** The input of a diff: the source with its complete new set. */
export interface SourceSet {
  readonly source: string
  readonly pods: readonly Pod[]
  readonly isFirst: boolean
  /** Milliseconds since the epoch. */
  readonly now: number
}

const LOCAL_ANNOTATIONS = new Set([CONFIG_SOURCE_ANNOTATION, CONFIG_MIRROR_ANNOTATION, CONFIG_SEEN_ANNOTATION])

/** Compares the new set of a source with what was known of it; order of the set only decides between equal names. */
export function computeSourceDiff(known: KnownPods, set: SourceSet): SourceDiff {
  const { kept, duplicates } = dropDuplicates(known, set.pods)
  const next = new Map<PodUid, KnownPod>()
  const found: Record<PodUpdate['operation'], Pod[]> = { REMOVE: [], ADD: [], UPDATE: [], DELETE: [], RECONCILE: [] }
  for (const received of kept) {
    const { uid } = received.metadata
    const before = known.get(uid)
    // Another pod that took over the UID of one is still another pod: the old one ends first.
    const isOther = before !== undefined && podFullName(before.pod) !== podFullName(received)
    if (isOther) found.REMOVE.push(before.pod)
    const change = before === undefined || isOther ? addPod(received, set) : changePod(before, received)
    next.set(uid, { received, pod: change.pod })
    if (change.operation !== undefined) found[change.operation].push(change.pod)
  }
  for (const [uid, { pod }] of known) if (!next.has(uid)) found.REMOVE.push(pod)
  const isSilent = found.ADD.length + found.UPDATE.length + found.DELETE.length === 0
  const order: readonly PodUpdate['operation'][] = ['REMOVE', 'ADD', 'UPDATE', 'DELETE', 'RECONCILE']
  const updates = order
    // An empty ADD says that the source has been seen, although it has nothing.
    .filter((operation) => found[operation].length > 0 || (operation === 'ADD' && set.isFirst && isSilent))
    .map((operation) => ({ operation, source: set.source, pods: found[operation] }))
  return { updates, known: next, duplicates }
}

/** When several pods have one name or one UID, the one that is known stays, so that a copied manifest disturbs nothing; else the first. */
function dropDuplicates(known: KnownPods, pods: readonly Pod[]): { kept: readonly Pod[]; duplicates: readonly Pod[] } {
  const byName = chooseOne(pods, podFullName, ({ metadata }) => known.has(metadata.uid))
  const byUid = chooseOne(
    byName,
    ({ metadata }) => metadata.uid,
    (pod) => isKnownName(known, pod),
  )
  const kept = new Set(byUid)
  return { kept: byUid, duplicates: pods.filter((pod) => !kept.has(pod)) }
}

/** One pod for each key: the known one, else the first. */
function chooseOne(pods: readonly Pod[], keyOf: (pod: Pod) => string, isKnown: (pod: Pod) => boolean): readonly Pod[] {
  const chosen = new Map<string, Pod>()
  for (const pod of pods) {
    const other = chosen.get(keyOf(pod))
    if (other === undefined || (isKnown(pod) && !isKnown(other))) chosen.set(keyOf(pod), pod)
  }
  return [...chosen.values()]
}

function isKnownName(known: KnownPods, pod: Pod): boolean {
  const before = known.get(pod.metadata.uid)
  return before !== undefined && podFullName(before.pod) === podFullName(pod)
}

function addPod(received: Pod, { source, now }: SourceSet): { pod: Pod; operation: PodUpdate['operation'] } {
  const annotations = {
    ...received.metadata.annotations,
    [CONFIG_SOURCE_ANNOTATION]: source,
    [CONFIG_SEEN_ANNOTATION]: formatSeen(now),
  }
  return { pod: { ...received, metadata: { ...received.metadata, annotations } }, operation: 'ADD' }
}

function changePod(before: KnownPod, received: Pod): { pod: Pod; operation?: PodUpdate['operation'] } {
  const { pod } = before
  if (before.received === received) return { pod }
  if (isSameDesired(pod, received)) {
    if (sameValue(pod.status, received.status)) return { pod }
    return { pod: { ...pod, status: received.status }, operation: 'RECONCILE' }
  }
  const { labels, deletionTimestamp, deletionGracePeriodSeconds, generation } = received.metadata
  const annotations = { ...received.metadata.annotations, ...localAnnotations(pod) }
  const changed: Pod = {
    metadata: { ...pod.metadata, labels, deletionTimestamp, deletionGracePeriodSeconds, generation, annotations },
    spec: received.spec,
    status: received.status,
    unreadable: received.unreadable,
  }
  return { pod: changed, operation: deletionTimestamp === undefined ? 'UPDATE' : 'DELETE' }
}

function isSameDesired(pod: Pod, received: Pod): boolean {
  return (
    pod.unreadable === received.unreadable &&
    pod.metadata.deletionTimestamp === received.metadata.deletionTimestamp &&
    pod.metadata.deletionGracePeriodSeconds === received.metadata.deletionGracePeriodSeconds &&
    sameValue(pod.metadata.labels ?? {}, received.metadata.labels ?? {}) &&
    sameValue(ownAnnotations(pod), ownAnnotations(received)) &&
    sameValue(pod.spec, received.spec)
  )
}

function localAnnotations(pod: Pod): Record<string, string> {
  const annotations = pod.metadata.annotations ?? {}
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => LOCAL_ANNOTATIONS.has(key)))
}

function ownAnnotations(pod: Pod): Record<string, string> {
  const annotations = pod.metadata.annotations ?? {}
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !LOCAL_ANNOTATIONS.has(key)))
}

/** RFC 3339 with nine digits, as the Go kubelet writes it. */
function formatSeen(now: number): string {
  return new Date(now).toISOString().replace('Z', '000000Z')
}
