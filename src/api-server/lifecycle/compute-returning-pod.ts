import type { Node, Pod } from '../../model/generated/core-v1.ts'
import type { ObjectOf } from '../store/api-object.ts'

type StoredPod = ObjectOf<Pod>

const SHUTDOWN_REASON = 'NodeShutdown'
const SHUTDOWN_MESSAGE = 'Pod was terminated in response to imminent node shutdown.'

/** One of them is in the text of each pod that its node's shutdown has ended, and hardly in any other. */
export const SHUTDOWN_TEXTS = [SHUTDOWN_REASON, SHUTDOWN_MESSAGE] as const

/** Their controllers have made another pod in the place of one that ended, and never remove that one. */
const REPLACING_KINDS = ['ReplicaSet', 'ReplicationController']

/**
 * What becomes of a pod that was ended, or not taken, only because its node shut down: it is created again, or removed
 * if another one was made in its place. Undefined for all others.
 */
export function computeShutdownFate({ metadata, spec, status }: StoredPod): 'return' | 'remove' | undefined {
  const isShutdown =
    status?.reason === SHUTDOWN_REASON ||
    status?.conditions?.some(({ message }) => message === SHUTDOWN_MESSAGE) === true
  // One with finalizers is the business of those who wait for its end.
  const isHeld = metadata.deletionTimestamp !== undefined || (metadata.finalizers?.length ?? 0) > 0
  if (!isShutdown || isHeld || !wouldRestart(spec?.restartPolicy, status.phase)) return undefined
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  if (owner === undefined) return 'return'
  return REPLACING_KINDS.includes(owner.kind) ? 'remove' : undefined
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
