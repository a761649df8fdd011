import type { Node } from '../../model/generated/core-v1.ts'
import type { Lease } from './lease.ts'

/** A lease that is renewed now: the one that there is, or a new one. It belongs to the Node object, and goes with it. */
export function computeLease(
  base: Lease | undefined,
  info: {
    readonly nodeName: string
    readonly durationSeconds: number
    readonly renewTime: string
    /** Undefined while it is not known. */
    readonly node: Node | undefined
  },
): Lease {
  const { nodeName, durationSeconds, renewTime, node } = info
  const uid = node?.metadata?.uid
  const isOwned = (base?.metadata?.ownerReferences ?? []).length > 0
  const owner =
    isOwned || uid === undefined ? {} : { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid }] }
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: nodeName, namespace: 'kube-node-lease', ...base?.metadata, ...owner },
    spec: { holderIdentity: nodeName, ...base?.spec, leaseDurationSeconds: durationSeconds, renewTime },
  }
}
