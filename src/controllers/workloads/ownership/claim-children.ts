import { isNotFound } from '../../../protocols/kube-api/kube-client.ts'
import type { OwnerReference } from '../../../model/generated/core-v1.ts'
import type { KubeObject } from '../../../protocols/kube-api/list-watch/kube-object.ts'
import type { ApiObjects, ApiKind } from '../../engine/api-objects.ts'
import type { Live, LiveMeta } from '../../engine/live-object.ts'
import { computeClaims } from './compute-claims.ts'

export interface ClaimRequest<O extends KubeObject, C extends KubeObject> {
  readonly owners: ApiObjects<O>
  readonly owner: Live<O>
  readonly children: ApiObjects<C>
  /** Which children can be claimed at all; all of them when absent. */
  readonly isCandidate?: (child: Live<C>) => boolean
  readonly matches: (child: Live<C>) => boolean
  /** What adoption adds to the metadata of a child, and release takes away. */
  readonly alter?: {
    readonly adopted: (metadata: LiveMeta) => object
    readonly released: (metadata: LiveMeta) => object
  }
}

/** The reference that makes an object the child of its controller. */
export function toControllerReference({ apiVersion, kind }: ApiKind, { name, uid }: LiveMeta): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/** Finds the children of an owner; adopts and releases on the way. */
export async function claimChildren<O extends KubeObject, C extends KubeObject>(
  request: ClaimRequest<O, C>,
  signal: AbortSignal,
): Promise<readonly Live<C>[]> {
  const { owners, owner, children, isCandidate = () => true, matches, alter } = request
  const { namespace, uid, name, deletionTimestamp } = owner.metadata
  const candidates = [...children.known.controlledBy(namespace, uid), ...children.known.controlledBy(namespace)]
  const { mine, adopt, release } = computeClaims({
    ownerUid: uid,
    isOwnerDeleting: deletionTimestamp !== undefined,
    children: candidates.filter(isCandidate),
    matches,
  })
  for (const child of release) {
    const ownerReferences = child.metadata.ownerReferences?.filter((each) => each.uid !== uid)
    await ignoreGone(() =>
      children.patch(child, { metadata: { ...alter?.released(child.metadata), ownerReferences } }, signal),
    )
  }
  if (adopt.length === 0) return mine
  // What we know of the owner may be old; an owner that goes must not take others along.
  const fresh = await owners.read(namespace, name, signal)
  if (fresh?.metadata.uid !== uid || fresh.metadata.deletionTimestamp !== undefined)
    throw new Error(`Cannot adopt children of ${owners.kind.kind} "${namespace}/${name}": it is gone or being deleted`)
  const adopted: Live<C>[] = []
  const reference = toControllerReference(owners.kind, owner.metadata)
  for (const child of adopt) {
    const ownerReferences = [...(child.metadata.ownerReferences ?? []), reference]
    const claimed = await ignoreGone(() =>
      children.patch(child, { metadata: { ...alter?.adopted(child.metadata), ownerReferences } }, signal),
    )
    if (claimed !== undefined) adopted.push(claimed)
  }
  return [...mine, ...adopted]
}

async function ignoreGone<R>(write: () => Promise<R>): Promise<R | undefined> {
  try {
    return await write()
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
