import type { Live } from '../../src/controllers/engine/live-object.ts'
import type { Deployment, DeploymentSpec, ReplicaSet, ReplicaSetStatus } from '../../src/model/generated/api-groups.ts'
import type { Pod, PodSpec, PodStatus } from '../../src/model/generated/core-v1.ts'

interface Named {
  readonly name: string
  readonly uid?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly creationTimestamp?: string
}

function metaOf({ name, uid = name, ...rest }: Named) {
  return { name, uid, namespace: 'default', resourceVersion: '1', generation: 1, ...rest }
}

export function livePod(named: Named, status: PodStatus = {}, spec: Partial<PodSpec> = {}): Live<Pod> {
  return { metadata: metaOf(named), spec: { containers: [], nodeName: 'node-1', ...spec }, status }
}

export function liveSet(
  named: Named & { readonly replicas: number; readonly image?: string },
  status: Partial<ReplicaSetStatus> = {},
): Live<ReplicaSet> {
  const { replicas, image = named.name, ...rest } = named
  return {
    metadata: metaOf(rest),
    spec: { replicas, selector: {}, template: { spec: { containers: [{ name: 'c', image }] } } },
    status: { replicas, observedGeneration: 1, ...status },
  }
}

export function liveDeployment(spec: Partial<DeploymentSpec> = {}, others: Partial<Deployment> = {}): Live<Deployment> {
  return {
    ...others,
    metadata: { ...others.metadata, ...metaOf({ name: 'web' }) },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { spec: { containers: [{ name: 'c', image: 'new' }] } },
      progressDeadlineSeconds: 600,
      ...spec,
    },
  }
}
