import type { PriorityClass, StorageClass } from '../../model/generated/api-groups.ts'
import { DEFAULT_CLASS } from '../../model/storage/storage-classes.ts'
import { findResource } from '../kinds/all-resources.ts'
import { SYSTEM_PRIORITIES } from '../kinds/rules/node-rules.ts'
import { createDefaultRoles } from '../rbac/create-default-roles.ts'
import type { ApiObject, ObjectOf } from '../store/api-object.ts'
import type { ApiStore } from '../store/api-store.ts'
import { renewApiService } from './api-service.ts'
import { ChangeSet, keyOf } from './change-set.ts'
import type { ChangeInfo } from './change-set.ts'
import { createObject } from './create-object.ts'
import { settleChanges } from './settle-changes.ts'

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

/** The storage class that a node has from its start. */
export interface BaseClass {
  readonly name: string
  readonly provisioner: string
}

/** Makes what every cluster has from its start, where it is missing. */
export async function createBaseObjects(store: ApiStore, info: ChangeInfo, baseClass?: BaseClass): Promise<void> {
  await store.write((transaction) => {
    const changes = new ChangeSet(transaction, info)
    for (const name of NAMESPACES)
      create(changes, '', 'namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name } })
    for (const [name, value] of Object.entries(SYSTEM_PRIORITIES)) {
      const apiVersion = 'scheduling.k8s.io/v1'
      const object: ObjectOf<PriorityClass> = { kind: 'PriorityClass', apiVersion, metadata: { name }, value }
      create(changes, 'scheduling.k8s.io', 'priorityclasses', object)
    }
    if (baseClass !== undefined) create(changes, 'storage.k8s.io', 'storageclasses', toClass(baseClass))
    renewApiService(changes)
    createDefaultRoles(changes)
    settleChanges(changes)
  })
}

/** A folder is where its pod is, so it is made when the pod has a node; it has no size, so it can be said to be larger. */
function toClass({ name, provisioner }: BaseClass): ObjectOf<StorageClass> {
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

function create(changes: ChangeSet, group: string, plural: string, object: ApiObject): void {
  const resource = findResource(group, 'v1', plural)
  if (resource === undefined || changes.get(keyOf(resource, object)) !== undefined) return
  createObject(changes, resource, object)
}
