import type { Resource } from '../kinds/resource.ts'
import { NAMESPACE_FINALIZER } from '../kinds/rules/namespace-rules.ts'
import type { StoreKey } from '../store/api-object.ts'
import type { Change, ChangeSet } from './change-set.ts'
import { computeNamespaceConditions } from './compute-namespace-conditions.ts'
import { deleteObject } from './delete-object.ts'
import { toApiTime } from '../../model/text/api-time.ts'

const DEFAULT_ACCOUNT = 'default'
const MOST_COUNTED = 50

/** What can be in a namespace, each under the name that it is stored by. */
function containedIn({ info: { resources } }: ChangeSet): readonly Resource[] {
  return resources.all.filter(
    (resource) =>
      resource.isNamespaced &&
      resource.hasSchema &&
      resource.verbs.includes('list') &&
      resources.ofStorage(resource.storage) === resource,
  )
}

/** A new namespace gets an account for pods that name none; a deleted one goes with the last of what is in it. */
export function followNamespaces(changes: ChangeSet, { key, before, after }: Change): void {
  if (key.resource !== 'namespaces') {
    const isEnding = after === undefined || after.metadata.deletionTimestamp !== undefined
    if (isEnding && key.namespace !== '') finishNamespace(changes, key.namespace)
    if (after === undefined && isDefaultAccount(key)) renewDefaultAccount(changes, key.namespace)
    return
  }
  if (after === undefined) return
  if (before === undefined) createDefaultAccount(changes, key.name)
  if (after.metadata.deletionTimestamp === undefined) return
  if (before?.metadata.deletionTimestamp !== undefined) return finishNamespace(changes, key.name)
  for (const resource of containedIn(changes)) {
    for (const stored of changes.view.list({ resource: resource.storage, namespace: key.name })) {
      deleteObject(changes, resource, stored, {})
    }
  }
  finishNamespace(changes, key.name)
}

function finishNamespace(changes: ChangeSet, name: string): void {
  const key = { resource: 'namespaces', namespace: '', name } as const
  const namespace = changes.objects.get(key)
  if (namespace?.metadata.deletionTimestamp === undefined || (namespace.metadata.finalizers?.length ?? 0) > 0) return
  const { finalizers = [] } = namespace.spec ?? {}
  // Our own finalizer waits until the namespace is empty; a client that removed it does not want to wait.
  if (finalizers.length === 0) return void changes.remove(key)
  const left = containedIn(changes).map((resource) => ({
    resource,
    count: changes.view.count({ resource: resource.storage, namespace: name }),
  }))
  if (left.some(({ count }) => count > 0)) return reportRemaining(changes, name, left)
  const others = finalizers.filter((finalizer) => finalizer !== NAMESPACE_FINALIZER)
  if (others.length === 0) return void changes.remove(key)
  if (others.length < finalizers.length)
    changes.put(key, { ...namespace, spec: { ...namespace.spec, finalizers: others } })
}

/** Reports what holds a namespace. Where many objects are left, not again for each one that goes. */
function reportRemaining(
  changes: ChangeSet,
  name: string,
  left: readonly { readonly resource: Resource; readonly count: number }[],
): void {
  const key = { resource: 'namespaces', namespace: '', name } as const
  const namespace = changes.objects.get(key)
  if (namespace === undefined) return
  const { conditions = [] } = namespace.status ?? {}
  const total = left.reduce((sum, { count }) => sum + count, 0)
  if (conditions.length > 0 && total > MOST_COUNTED) return
  const remaining = left
    .filter(({ count }) => count > 0)
    .map(({ resource: { plural, group, storage } }) => ({
      resource: `${plural}.${group}`,
      finalizers: changes.view
        .list({ resource: storage, namespace: name })
        .map(({ object }) => object.metadata.finalizers ?? []),
    }))
  const made = computeNamespaceConditions(conditions, remaining, changes.info.now)
  if (made !== conditions) changes.put(key, { ...namespace, status: { ...namespace.status, conditions: made } })
}

function isDefaultAccount({ resource, name }: StoreKey): boolean {
  return resource === 'serviceaccounts' && name === DEFAULT_ACCOUNT
}

/** Without it no pod could be made that names no account. */
function renewDefaultAccount(changes: ChangeSet, namespace: string): void {
  const owner = changes.objects.get({ resource: 'namespaces', namespace: '', name: namespace })
  if (owner !== undefined && owner.metadata.deletionTimestamp === undefined) createDefaultAccount(changes, namespace)
}

function createDefaultAccount(changes: ChangeSet, namespace: string): void {
  const { newUid, now } = changes.info
  const metadata = { name: DEFAULT_ACCOUNT, namespace, uid: newUid(), creationTimestamp: toApiTime(now) }
  const key = { resource: 'serviceaccounts', namespace, name: DEFAULT_ACCOUNT } as const
  changes.put(key, { kind: 'ServiceAccount', apiVersion: 'v1', metadata })
}
