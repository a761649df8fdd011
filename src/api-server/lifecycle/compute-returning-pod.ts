import type { Node, Pod } from '../../model/generated/core-v1.ts'
import type { ObjectOf } from '../store/api-object.ts'

type StoredPod = ObjectOf<Pod>

const SHUTDOWN_MESSAGE = 'Pod was terminated in response to imminent node shutdown.'

/** Whether a pod was ended, or not taken, only because its node shut down, and nothing else replaces it. */
export function isEndedByShutdown({ metadata, spec, status }: StoredPod): boolean {
  if (status?.phase !== 'Failed' || metadata.deletionTimestamp !== undefined) return false
  const isShutdown = status.message === SHUTDOWN_MESSAGE || status.reason === 'NodeShutdown'
  const isControlled = metadata.ownerReferences?.some(({ controller }) => controller === true) === true
  // One that may never run twice has had its run; one with finalizers is the business of those who wait for its end.
  return isShutdown && !isControlled && spec?.restartPolicy !== 'Never' && (metadata.finalizers?.length ?? 0) === 0
}

/** Whether a node takes pods again. */
export function isReadyNode(node: Node | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
}

/** The pod as it was before it ran, to be created again: a pod that has ended never starts a second time. */
export function computeReturningPod({ apiVersion, kind, metadata, spec }: StoredPod): StoredPod {
  const { name, namespace, generateName, labels, annotations, ownerReferences } = metadata
  const { nodeName: _, ephemeralContainers: __, ...asked } = spec ?? { containers: [] }
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      ...(generateName && { generateName }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(ownerReferences && { ownerReferences }),
    },
    spec: asked,
  }
}
