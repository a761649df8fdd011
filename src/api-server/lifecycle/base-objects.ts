import type { IngressClass, PriorityClass, StorageClass } from '../../model/generated/api-groups.ts'
import { DEFAULT_INGRESS_CLASS } from '../../model/networking/ingress-classes.ts'
import { DEFAULT_CLASS } from '../../model/storage/storage-classes.ts'
import { findResource } from '../kinds/all-resources.ts'
import { SYSTEM_PRIORITIES } from '../kinds/rules/node-rules.ts'
import { ensureDefaultRoles } from '../rbac/ensure-default-roles.ts'
import type { ApiObject, ObjectOf } from '../store/api-object.ts'
import type { ApiStore } from '../store/api-store.ts'
import { renewApiService } from './api-service.ts'
import { ChangeSet, storeKeyOf } from './change-set.ts'
import type { ChangeInfo } from './change-set.ts'
import { createObject } from './create-object.ts'
import { settleChanges } from './settle-changes.ts'

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

/** The classes that a node has from its start. */
export interface BaseClasses {
  readonly storage?: { readonly name: string; readonly provisioner: string } | undefined
  readonly ingress?: { readonly name: string; readonly controller: string } | undefined
}

/** Makes what every cluster has from its start, where it is missing. */
export async function createBaseObjects(store: ApiStore, info: ChangeInfo, classes: BaseClasses = {}): Promise<void> {
  await store.write((transaction) => {
    const changes = new ChangeSet(transaction, info)
    for (const name of NAMESPACES)
      create(changes, '', 'namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name } })
    for (const [name, value] of Object.entries(SYSTEM_PRIORITIES)) {
      const apiVersion = 'scheduling.k8s.io/v1'
      const object: ObjectOf<PriorityClass> = { kind: 'PriorityClass', apiVersion, metadata: { name }, value }
      create(changes, 'scheduling.k8s.io', 'priorityclasses', object)
    }
    if (classes.storage !== undefined)
      create(changes, 'storage.k8s.io', 'storageclasses', toStorageClass(classes.storage))
    if (classes.ingress !== undefined)
      create(changes, 'networking.k8s.io', 'ingressclasses', toIngressClass(classes.ingress))
    renewApiService(changes)
    ensureDefaultRoles(changes)
    settleChanges(changes)
  })
}

/** A folder is where its pod is, so it is made when the pod has a node; it has no size, so any larger one can be reported. */
function toStorageClass({ name, provisioner }: NonNullable<BaseClasses['storage']>): ObjectOf<StorageClass> {
  return {
    kind: 'StorageClass',
    apiVersion: 'storage.k8s.io/v1',
    metadata: { name, annotations: { [DEFAULT_CLASS]: 'true' } },
    provisioner,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  }
}

function toIngressClass({ name, controller }: NonNullable<BaseClasses['ingress']>): ObjectOf<IngressClass> {
  return {
    kind: 'IngressClass',
    apiVersion: 'networking.k8s.io/v1',
    metadata: { name, annotations: { [DEFAULT_INGRESS_CLASS]: 'true' } },
    spec: { controller },
  }
}

function create(changes: ChangeSet, group: string, plural: string, object: ApiObject): void {
  const resource = findResource(group, 'v1', plural)
  if (resource === undefined || changes.get(storeKeyOf(resource, object)) !== undefined) return
  createObject(changes, resource, object)
}
