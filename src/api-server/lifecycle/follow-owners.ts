import { sameValue } from '../../base/document/same-value.ts'
import type { DeleteOptions, OwnerReference } from '../../model/generated/core-v1.ts'
import type { ApiObject, StoreKey, StoredObject } from '../store/api-object.ts'
import { removeFinalizer } from './change-set.ts'
import type { Change, ChangeSet } from './change-set.ts'
import { deleteObject, FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from './delete-object.ts'

/** What an object says by its finalizers of those that it owns. Else they go too, whatever its kind does when a user deletes it. */
const SAID: Readonly<Record<string, string>> = { [ORPHAN_FINALIZER]: 'Orphan', [FOREGROUND_FINALIZER]: 'Foreground' }

/** What a change means for those that are owned: they go too, go first, or are let free. What has only owners that are gone goes as well. */
export function followOwners(changes: ChangeSet, { key, before, after }: Change): void {
  if (after === undefined) {
    if (before === undefined) return
    for (const owned of changes.view.ownedBy(before.metadata.uid ?? '')) collect(changes, owned.key)
    for (const reference of before.metadata.ownerReferences ?? []) releaseOwner(changes, reference, key.namespace)
    return
  }
  const { ownerReferences = [] } = after.metadata
  if (!sameValue(ownerReferences, before?.metadata.ownerReferences ?? [])) {
    for (const reference of before?.metadata.ownerReferences ?? []) releaseOwner(changes, reference, key.namespace)
    // What is only being created has been seen by no kubelet, so nothing of it has to be ended.
    if (ownerReferences.length > 0) collect(changes, key, before === undefined ? { gracePeriodSeconds: 0 } : {})
  }
  if (after.metadata.deletionTimestamp === undefined) return
  const wanted = policyOf(after)
  if (wanted === undefined || (before?.metadata.deletionTimestamp !== undefined && wanted === policyOf(before))) return
  if (wanted === ORPHAN_FINALIZER) {
    for (const owned of changes.view.ownedBy(after.metadata.uid ?? ''))
      disown(changes, owned, new Set([after.metadata.uid ?? '']))
    removeFinalizer(changes, key, ORPHAN_FINALIZER)
  } else {
    for (const owned of changes.view.ownedBy(after.metadata.uid ?? '')) collect(changes, owned.key)
    if (!hasBlockers(changes, after.metadata.uid ?? '')) removeFinalizer(changes, key, FOREGROUND_FINALIZER)
  }
}

function policyOf({ metadata }: ApiObject): string | undefined {
  return [ORPHAN_FINALIZER, FOREGROUND_FINALIZER].find((each) => metadata.finalizers?.includes(each))
}

/** Deletes an object whose owners are all gone or wait for it to go; one that has others loses the references to those. */
function collect(changes: ChangeSet, key: StoreKey, options: DeleteOptions = {}): void {
  const stored = changes.get(key)
  const resource = changes.info.resources.ofStorage(key.resource)
  if (stored === undefined || resource === undefined) return
  const { ownerReferences = [], deletionTimestamp, uid = '' } = stored.object.metadata
  const states = ownerReferences.map((reference) => ({ reference, state: stateOf(changes, reference, key.namespace) }))
  const leaving = states.filter(({ state }) => state !== 'solid').map(({ reference }) => reference.uid)
  if (leaving.length === 0) return
  if (leaving.length < ownerReferences.length) return disown(changes, stored, new Set(leaving))
  if (deletionTimestamp !== undefined) return
  const owned = changes.view.ownedBy(uid)
  const isFirst = states.some(({ state }) => state === 'waiting') && owned.length > 0
  // Parity: what waits for one that waits itself may be a cycle, and is taken for one.
  if (isFirst && owned.some(({ object }) => isWaiting(object))) unblock(changes, stored)
  const said = SAID[policyOf(stored.object) ?? ''] ?? 'Background'
  const propagationPolicy = isFirst ? 'Foreground' : said
  deleteObject(changes, resource, changes.get(key) ?? stored, { ...options, propagationPolicy })
}

/** Lets the owners of an object go before it. */
function unblock(changes: ChangeSet, { key, object }: StoredObject): void {
  const ownerReferences = object.metadata.ownerReferences?.map((each) =>
    each.blockOwnerDeletion === true ? { ...each, blockOwnerDeletion: false } : each,
  )
  changes.put(key, { ...object, metadata: { ...object.metadata, ownerReferences } })
}

/** Whether an owner holds what it owns, waits for it to go, or is gone itself. One of an unknown kind holds: others may know it. */
function stateOf(changes: ChangeSet, reference: OwnerReference, namespace: string): 'solid' | 'waiting' | 'gone' {
  const key = keyOfOwner(changes, reference, namespace)
  if (key === undefined) return 'solid'
  const owner = changes.get(key)?.object
  if (owner?.metadata.uid !== reference.uid) return 'gone'
  return isWaiting(owner) ? 'waiting' : 'solid'
}

/** Whether an owner goes after those that it owns. */
function isWaiting(owner: ApiObject): boolean {
  return owner.metadata.deletionTimestamp !== undefined && policyOf(owner) === FOREGROUND_FINALIZER
}

function disown(changes: ChangeSet, owned: { key: StoreKey; object: ApiObject }, owners: ReadonlySet<string>): void {
  const { ownerReferences = [], ...metadata } = owned.object.metadata
  const left = ownerReferences.filter(({ uid }) => !owners.has(uid))
  changes.put(owned.key, {
    ...owned.object,
    metadata: { ...metadata, ...(left.length > 0 && { ownerReferences: left }) },
  })
}

/** Lets an owner go that waited for the last of its own. */
function releaseOwner(changes: ChangeSet, reference: OwnerReference, namespace: string): void {
  const key = keyOfOwner(changes, reference, namespace)
  if (key === undefined) return
  const owner = changes.get(key)?.object
  // First what costs nothing: an owner may have thousands, and only one that waits asks how many are left.
  if (owner?.metadata.uid !== reference.uid || !isWaiting(owner) || hasBlockers(changes, reference.uid)) return
  removeFinalizer(changes, key, FOREGROUND_FINALIZER)
}

/** Where an owner is stored; an owner is in the namespace of what it owns, or in none. */
function keyOfOwner(
  { info: { resources } }: ChangeSet,
  { apiVersion, kind, name }: OwnerReference,
  namespace: string,
): StoreKey | undefined {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
  const resource = resources.all.find(
    (each) => each.group === group && each.kind === kind && resources.ofStorage(each.storage) === each,
  )
  // What belongs to no namespace cannot have an owner in one: it is not collected.
  if (resource === undefined || (resource.isNamespaced && namespace === '')) return undefined
  return { resource: resource.storage, namespace: resource.isNamespaced ? namespace : '', name }
}

function hasBlockers(changes: ChangeSet, uid: string): boolean {
  const blocks = (each: OwnerReference) => each.uid === uid && each.blockOwnerDeletion === true
  return changes.view.ownedBy(uid).some(({ object }) => object.metadata.ownerReferences?.some(blocks))
}
