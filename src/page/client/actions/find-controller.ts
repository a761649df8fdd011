import type { ObjectMeta } from '../../../model/generated/core-v1.ts'

/** What makes pods, and makes them again. */
export interface PodController {
  readonly kind: string
  readonly name: string
  readonly group: string
  readonly resource: string
  readonly canScale: boolean
  /** Of the object. */
  readonly path: string
}

export interface Owned {
  readonly metadata?: Pick<ObjectMeta, 'ownerReferences' | 'namespace'> | undefined
}

const KINDS: Readonly<Record<string, Pick<PodController, 'group' | 'resource' | 'canScale'>>> = {
  Deployment: { group: 'apps', resource: 'deployments', canScale: true },
  ReplicaSet: { group: 'apps', resource: 'replicasets', canScale: true },
  StatefulSet: { group: 'apps', resource: 'statefulsets', canScale: true },
  DaemonSet: { group: 'apps', resource: 'daemonsets', canScale: false },
  Job: { group: 'batch', resource: 'jobs', canScale: false },
  ReplicationController: { group: '', resource: 'replicationcontrollers', canScale: true },
}

/** The controller that an object names, as far as this page knows its kind. */
export function findController({ metadata }: Owned): PodController | undefined {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true)
  const kind = owner === undefined ? undefined : KINDS[owner.kind]
  if (owner === undefined || kind === undefined) return undefined
  const prefix = kind.group === '' ? '/api/v1' : `/apis/${kind.group}/v1`
  const path = `${prefix}/namespaces/${metadata?.namespace ?? 'default'}/${kind.resource}/${owner.name}`
  return { kind: owner.kind, name: owner.name, ...kind, path }
}
