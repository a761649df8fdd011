import type { NamespaceSpec } from '../../model/generated/core-v1.ts'
import { allResources } from '../kinds/all-resources.ts'
import { formatTime } from './change-set.ts'
import type { Change, ChangeSet } from './change-set.ts'
import { deleteObject } from './delete-object.ts'

const OWN_FINALIZER = 'kubernetes'

const contained = allResources.filter(
  ({ isNamespaced, convert, hasSchema, verbs }) =>
    isNamespaced && convert === undefined && hasSchema && verbs.includes('list'),
)

/** A new namespace gets an account for pods that name none; a deleted one goes with the last of what is in it. */
export function followNamespaces(changes: ChangeSet, { key, before, after }: Change): void {
  if (key.resource !== 'namespaces') {
    if (after === undefined && key.namespace !== '') finishNamespace(changes, key.namespace)
    return
  }
  if (after === undefined) return
  if (before === undefined) createDefaultAccount(changes, key.name)
  if (after.metadata.deletionTimestamp === undefined) return
  if (before?.metadata.deletionTimestamp !== undefined) return finishNamespace(changes, key.name)
  for (const resource of contained) {
    for (const stored of changes.view.list({ resource: resource.storage, namespace: key.name })) {
      deleteObject(changes, resource, stored, {})
    }
  }
  finishNamespace(changes, key.name)
}

function finishNamespace(changes: ChangeSet, name: string): void {
  const key = { resource: 'namespaces', namespace: '', name }
  const namespace = changes.get(key)?.object
  if (namespace?.metadata.deletionTimestamp === undefined || (namespace.metadata.finalizers?.length ?? 0) > 0) return
  const { finalizers = [] } = namespace['spec'] as NamespaceSpec
  // Our own part is to wait until it is empty; who takes that away does not want it to be waited for.
  if (finalizers.length === 0) return void changes.remove(key)
  if (finalizers.some((finalizer) => finalizer !== OWN_FINALIZER)) return
  const isEmpty = contained.every(({ storage }) => changes.view.count({ resource: storage, namespace: name }) === 0)
  if (isEmpty) changes.remove(key)
}

function createDefaultAccount(changes: ChangeSet, namespace: string): void {
  const { newUid, now } = changes.facts
  const metadata = { name: 'default', namespace, uid: newUid(), creationTimestamp: formatTime(now) }
  const key = { resource: 'serviceaccounts', namespace, name: 'default' }
  changes.put(key, { kind: 'ServiceAccount', apiVersion: 'v1', metadata })
}
