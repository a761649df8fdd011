import type { Node } from '../../model/generated/core-v1.ts'
import type { NodeProfile } from './status/node-profile.ts'

/** Says that a controller attaches volumes to this node. */
export const ATTACH_DETACH_ANNOTATION = 'volumes.kubernetes.io/controller-managed-attach-detach'

/** Labels that this node cannot be without: they are put right whenever they are not. */
export function requiredLabels({ architecture }: Pick<NodeProfile, 'architecture'>): Readonly<Record<string, string>> {
  return { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': architecture }
}

/** The Node object as this node would make it, before it has a status. */
export function computeInitialNode(profile: NodeProfile): Node {
  const { nodeName, architecture, providerId } = profile
  const taints = [
    ...profile.taints,
    ...(profile.externalCloud
      ? [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }]
      : []),
  ]
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName,
      labels: {
        'kubernetes.io/hostname': nodeName,
        ...requiredLabels(profile),
        'beta.kubernetes.io/os': 'linux',
        'beta.kubernetes.io/arch': architecture,
        ...profile.labels,
      },
      ...(profile.controllerAttachDetach ? { annotations: { [ATTACH_DETACH_ANNOTATION]: 'true' } } : {}),
    },
    spec: {
      ...(taints.length > 0 ? { taints } : {}),
      ...(providerId === '' ? {} : { providerID: providerId }),
    },
  }
}
