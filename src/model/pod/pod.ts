import type { ObjectMeta, PodSpec, PodStatus } from '../generated/core-v1.ts'

/** A pod's UID; made only by parsePodUid() or by the decoder of manifests. */
export type PodUid = string & { readonly brand: 'PodUid' }

/** A pod as the agent holds it: decoded, defaulted, with the identity that every pod has. Shared, so never changed in place. */
export interface Pod {
  readonly metadata: ObjectMeta & { readonly name: string; readonly namespace: string; readonly uid: PodUid }
  readonly spec: PodSpec
  readonly status?: PodStatus | undefined
  /** Why the object of the API cannot be used. Its spec is not known then: nothing of it may be started, but it can be deleted. */
  readonly unreadable?: string | undefined
}

/** Annotations that the agent itself puts on a pod. */
export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source'
export const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen'
export const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash'
export const CONFIG_MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'
export const ETCD_KEY_ANNOTATION = 'deckhand.local/etcd-key'

// A UID becomes part of paths and cgroup names, so only what is harmless in both is one.
const UID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/

export function isPodUid(text: string): text is PodUid {
  return UID_PATTERN.test(text)
}

/** The one way from text to a PodUid. */
export function parsePodUid(text: string): PodUid {
  if (!isPodUid(text)) throw new Error(`Cannot use "${text}" as a pod UID: expected 1 to 63 letters, digits and dashes`)
  return text
}

/** True for a pod of a manifest file or URL, which the API server cannot delete. */
export function isStaticPod(pod: Pod): boolean {
  const source = pod.metadata.annotations?.[CONFIG_SOURCE_ANNOTATION]
  return source !== undefined && source !== 'api'
}

/** "name_namespace": what two pods on one node may not share while both are static. */
export function podFullName(pod: Pod): string {
  return `${pod.metadata.name}_${pod.metadata.namespace}`
}

/** "name_namespace(uid)": how messages that users match on name a pod. */
export function podText(pod: Pod): string {
  return `${podFullName(pod)}(${pod.metadata.uid})`
}

/** "namespace/name": how our logs name a pod. */
export function podLogName(pod: Pod): string {
  return `${pod.metadata.namespace}/${pod.metadata.name}`
}
