import type { Node, Pod } from '../../model/generated/core-v1.ts'
import type { ObjectOf } from '../store/api-object.ts'

type StoredPod = ObjectOf<Pod>

const SHUTDOWN_MESSAGE = 'Pod was terminated in response to imminent node shutdown.'

/** Whether a pod was ended, or not taken, only because its node shut down, and nothing else replaces it. */
export function isEndedByShutdown({ metadata, spec, status }: StoredPod): boolean {
  const isShutdown =
    status?.reason === 'NodeShutdown' ||
    status?.conditions?.some(({ message }) => message === SHUTDOWN_MESSAGE) === true
  const isControlled = metadata.ownerReferences?.some(({ controller }) => controller === true) === true
  // One with finalizers is the business of those who wait for its end.
  const isHeld = isControlled || metadata.deletionTimestamp !== undefined || (metadata.finalizers?.length ?? 0) > 0
  return isShutdown && !isHeld && wouldRestart(spec?.restartPolicy, status.phase)
}

/** As if its containers had ended by themselves. */
function wouldRestart(restartPolicy = 'Always', phase: string | undefined): boolean {
  if (phase === 'Succeeded') return restartPolicy === 'Always'
  return phase === 'Failed' && restartPolicy !== 'Never'
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
