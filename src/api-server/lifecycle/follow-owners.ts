import type { OwnerReference } from '../../model/generated/core-v1.ts'
import { allResources, resourceOfStorage } from '../kinds/all-resources.ts'
import type { ApiObject, StoreKey } from '../store/api-object.ts'
import { removeFinalizer } from './change-set.ts'
import type { Change, ChangeSet } from './change-set.ts'
import { deleteObject, FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from './delete-object.ts'

/** What a deletion means for those that are owned: they go too, go first, or are let free. */
export function followOwners(changes: ChangeSet, { key, before, after }: Change): void {
  if (after === undefined) {
    if (before === undefined) return
    deleteOwned(changes, before)
    for (const reference of before.metadata.ownerReferences ?? []) releaseOwner(changes, reference, key.namespace)
    return
  }
  if (after.metadata.deletionTimestamp === undefined || before?.metadata.deletionTimestamp !== undefined) return
  if (after.metadata.finalizers?.includes(ORPHAN_FINALIZER)) {
    for (const owned of changes.view.ownedBy(after.metadata.uid ?? '')) disown(changes, owned, after)
    removeFinalizer(changes, key, ORPHAN_FINALIZER)
  } else if (after.metadata.finalizers?.includes(FOREGROUND_FINALIZER)) {
    deleteOwned(changes, after)
    if (countBlockers(changes, after.metadata.uid ?? '') === 0) removeFinalizer(changes, key, FOREGROUND_FINALIZER)
  }
}

/** Deletes those that have no other owner left. */
function deleteOwned(changes: ChangeSet, owner: ApiObject): void {
  for (const owned of changes.view.ownedBy(owner.metadata.uid ?? '')) {
    const resource = resourceOfStorage(owned.key.resource)
    if ((owned.object.metadata.ownerReferences?.length ?? 0) > 1) disown(changes, owned, owner)
    else if (resource !== undefined) deleteObject(changes, resource, owned, {})
  }
}

function disown(changes: ChangeSet, owned: { key: StoreKey; object: ApiObject }, owner: ApiObject): void {
  const ownerReferences = owned.object.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.metadata.uid)
  changes.put(owned.key, { ...owned.object, metadata: { ...owned.object.metadata, ownerReferences } })
}

/** Lets an owner go that waited for the last of its own. */
function releaseOwner(changes: ChangeSet, reference: OwnerReference, namespace: string): void {
  const group = reference.apiVersion.includes('/') ? (reference.apiVersion.split('/')[0] ?? '') : ''
  const resource = allResources.find((each) => each.group === group && each.kind === reference.kind)
  if (resource === undefined) return
  const key = { resource: resource.storage, namespace: resource.isNamespaced ? namespace : '', name: reference.name }
  const owner = changes.get(key)?.object
  if (owner?.metadata.uid !== reference.uid || countBlockers(changes, reference.uid) > 0) return
  if (owner.metadata.deletionTimestamp !== undefined) removeFinalizer(changes, key, FOREGROUND_FINALIZER)
}

function countBlockers(changes: ChangeSet, uid: string): number {
  const blocks = (each: OwnerReference) => each.uid === uid && each.blockOwnerDeletion === true
  return changes.view.ownedBy(uid).filter(({ object }) => object.metadata.ownerReferences?.some(blocks)).length
}
