import type { DeleteOptions } from '../../model/generated/core-v1.ts'
import { sameValue } from '../../base/document/same-value.ts'
import { conflict, forbidden } from '../api-error.ts'
import { markTerminating } from '../custom-resources/compute-definition-status.ts'
import { asStored } from '../kinds/object-reader.ts'
import type { Resource } from '../kinds/resource.ts'
import type { ObjectIn } from '../kinds/stored-types.ts'
import type { ApiObject, StoredObject } from '../store/api-object.ts'
import { SYSTEM_PRIORITIES } from '../kinds/rules/node-rules.ts'
import { storeKeyOf, namedIn } from './change-set.ts'
import type { ChangeSet } from './change-set.ts'
import { toApiTime } from '../../model/text/api-time.ts'
import { toSeconds } from '../../model/text/int64.ts'

/** Keeps an owner until those that it owns, and that ask for it, are gone. */
export const FOREGROUND_FINALIZER = 'foregroundDeletion'
/** Keeps an owner until those that it owned are free. */
export const ORPHAN_FINALIZER = 'orphan'

const LASTING_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

/**
 * Deletes an object, at once or by marking it: pods get their grace, finalizers are waited for. Gives the object as it is then, or
 * its last state.
 */
export function deleteObject(
  changes: ChangeSet,
  resource: Resource,
  stored: StoredObject,
  options: DeleteOptions,
): ApiObject {
  const before = stored.object
  checkPreconditions(resource, before, options)
  if (resource.storage === 'namespaces') return deleteNamespace(changes, resource, asStored('namespaces', before))
  if (resource.storage === 'customresourcedefinitions.apiextensions.k8s.io') {
    return deleteDefinition(changes, asStored(resource.storage, before))
  }
  if (isSystemClass(resource, before)) {
    const why = 'this is a system priority class and cannot be deleted'
    throw forbidden(namedIn(resource, before.metadata.name ?? ''), why)
  }
  const finalizers = finalizersOf(changes, resource, before, options)
  const grace = resource.rules.gracePeriodSeconds?.(before, options.gracePeriodSeconds) ?? 0
  const key = storeKeyOf(resource, before)
  if (grace === 0 && finalizers.length === 0) return changes.remove(key) ?? before
  const { deletionTimestamp, deletionGracePeriodSeconds: old = 0, generation } = before.metadata
  // A second deletion may only hasten the first, or say something else about the dependents.
  const hasOthers = !sameValue(finalizers, before.metadata.finalizers ?? [])
  if (deletionTimestamp !== undefined && grace >= old && !hasOthers) return before
  const metadata = {
    ...before.metadata,
    ...((deletionTimestamp === undefined || grace < old) && {
      deletionTimestamp: toApiTime(changes.info.now + toSeconds(grace) * 1000),
      deletionGracePeriodSeconds: grace,
    }),
    finalizers: finalizers.length > 0 ? finalizers : undefined,
    ...(resource.hasGeneration && deletionTimestamp === undefined && { generation: Number(generation ?? 0) + 1 }),
  }
  return changes.put(key, { ...before, metadata })
}

function isSystemClass({ storage }: Resource, { metadata }: ApiObject): boolean {
  return storage === 'priorityclasses.scheduling.k8s.io' && Object.hasOwn(SYSTEM_PRIORITIES, metadata.name ?? '')
}

/** The finalizers of the object. The one that says what becomes of its dependents, if any, replaces another such one. */
function finalizersOf(
  changes: ChangeSet,
  { rules }: Resource,
  { metadata }: ApiObject,
  options: DeleteOptions,
): readonly string[] {
  const present = metadata.finalizers ?? []
  const policy = policyOf(options, present) ?? (rules.orphansDependents === true ? 'Orphan' : 'Background')
  const others = present.filter((each) => each !== FOREGROUND_FINALIZER && each !== ORPHAN_FINALIZER)
  const added = policy === 'Orphan' ? ORPHAN_FINALIZER : policy === 'Foreground' ? FOREGROUND_FINALIZER : undefined
  if (added === undefined) return others
  if (present.includes(added)) return [...others, added]
  return changes.view.ownedBy(metadata.uid ?? '').length === 0 ? others : [...others, added]
}

/** What the request says, else what an earlier one did. */
function policyOf({ propagationPolicy, orphanDependents }: DeleteOptions, present: readonly string[]) {
  if (propagationPolicy !== undefined) return propagationPolicy
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background'
  if (present.includes(ORPHAN_FINALIZER)) return 'Orphan'
  return present.includes(FOREGROUND_FINALIZER) ? 'Foreground' : undefined
}

function checkPreconditions(resource: Resource, object: ApiObject, { preconditions }: DeleteOptions): void {
  const { uid, resourceVersion } = object.metadata
  const name = namedIn(resource, object.metadata.name ?? '')
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    const wanted = preconditions.uid
    throw conflict(name, `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${uid}`)
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    const wanted = preconditions.resourceVersion
    throw conflict(
      name,
      `Precondition failed: ResourceVersion in precondition: ${wanted}, ResourceVersion in object meta: ${resourceVersion}`,
    )
  }
}

/** A definition is removed with all of its objects; it stays, terminating, until the last of them is gone. */
function deleteDefinition(
  changes: ChangeSet,
  before: ObjectIn<'customresourcedefinitions.apiextensions.k8s.io'>,
): ApiObject {
  if (before.metadata.deletionTimestamp !== undefined) return before
  const resource = 'customresourcedefinitions.apiextensions.k8s.io'
  const key = { resource, namespace: '', name: before.metadata.name ?? '' } as const
  return changes.put(key, markTerminating(before, toApiTime(changes.info.now)))
}

/** A namespace is removed with everything in it; it stays, terminating, until it is empty. */
function deleteNamespace(changes: ChangeSet, resource: Resource, before: ObjectIn<'namespaces'>): ApiObject {
  const { name = '', deletionTimestamp } = before.metadata
  if (LASTING_NAMESPACES.includes(name)) throw forbidden(namedIn(resource, name), 'this namespace may not be deleted')
  if (deletionTimestamp !== undefined) return before
  const key = { resource: 'namespaces', namespace: '', name } as const
  const metadata = { ...before.metadata, deletionTimestamp: toApiTime(changes.info.now) }
  return changes.put(key, { ...before, metadata, status: { ...before.status, phase: 'Terminating' } })
}
