import type { ObjectMeta } from '../../model/generated/core-v1.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import { conflict, invalid, notFound } from '../api-error.ts'
import { sameOwners } from '../apply/managed-fields.ts'
import { fieldsOfChanged, withManagedFields } from '../apply/managed-objects.ts'
import type { Resource, Subresource } from '../kinds/resource.ts'
import { sameValue } from '../../base/document/same-value.ts'
import type { ApiObject, StoreKey } from '../store/api-object.ts'
import { storeKeyOf, namedIn } from './change-set.ts'
import type { ChangeSet } from './change-set.ts'
import { failIfInvalid, validateFinalizers, validateObjectMeta } from './validate-object.ts'

/** An update: of what, and how the new object follows from the old one. */
export interface ObjectUpdate {
  readonly key: StoreKey
  /** Undefined: the object itself, without its status. */
  readonly subresource?: Subresource | undefined
  /** The name of the path that is written to, when it is another one than that of the subresource. */
  readonly path?: string
  /** Whether the changed object says itself who owns its fields; otherwise they become the writer's. */
  readonly isApply?: boolean
  readonly change: (before: ApiObject) => ApiObject
}

const STALE = 'the object has been modified; please apply your changes to the latest version and try again'

/** Changes an object that is there; gives it as it is stored. Nothing is written when nothing is different. */
export function updateObject(changes: ChangeSet, resource: Resource, update: ObjectUpdate): ApiObject {
  const before = changes.get(update.key)?.object
  if (before === undefined) throw notFound(namedIn(resource, update.key.name))
  const sent = update.change(before)
  checkPreconditions(resource, sent, before)
  const object = counted(resource, update, computeNext(changes, resource, update, sent, before), before)
  failIfInvalid(resource, object, violationsOf(resource, update.subresource, object, before))
  update.subresource?.admit?.(object, before, changes.requestContext)
  if (update.subresource === undefined) changes.warn(resource.rules.warn?.(object, before))
  const managedFields = fieldsAfter(changes, resource, update, sent, before)
  const isSame =
    sameValue(withManagedFields(object, undefined), withManagedFields(before, undefined)) &&
    // The times alone are no change.
    sameOwners(managedFields, before.metadata.managedFields)
  if (isSame) return before
  return changes.put(storeKeyOf(resource, object), withManagedFields(object, managedFields))
}

/** Who owns which fields then. What the server decides about the object has no manager, so this is about what was sent, with its defaults. */
function fieldsAfter(changes: ChangeSet, resource: Resource, update: ObjectUpdate, sent: ApiObject, before: ApiObject) {
  if (update.isApply === true) return sent.metadata.managedFields
  const writer = changes.fieldWriter
  if (writer === undefined) return before.metadata.managedFields
  const path = update.path ?? update.subresource?.name ?? ''
  const filled = path === 'status' ? sent : (resource.rules.fillDefaults?.(sent) ?? sent)
  return fieldsOfChanged(resource, path, { sent: filled, before }, writer)
}

function checkPreconditions(resource: Resource, sent: ApiObject, before: ApiObject): void {
  const name = namedIn(resource, before.metadata.name ?? '')
  const { uid, resourceVersion } = sent.metadata
  if (uid && uid !== before.metadata.uid) {
    throw conflict(name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`)
  }
  if (!resourceVersion && !resource.updatesUnconditionally) {
    const problems = new ProblemList()
    const path = FieldPath.root.child('metadata').child('resourceVersion')
    problems.invalid(path, 0, 'must be specified for an update')
    throw invalid({ ...name, kind: resource.plural }, problems.violations)
  }
  if (resourceVersion && resourceVersion !== before.metadata.resourceVersion) throw conflict(name, STALE)
}

/** The object as it would be: what the sender may not change is as before. */
function computeNext(
  changes: ChangeSet,
  resource: Resource,
  { subresource }: ObjectUpdate,
  sent: ApiObject,
  before: ApiObject,
): ApiObject {
  const { rules } = resource
  const rest = changes.requestContext
  if (subresource?.merge) {
    const filled = rules.fillDefaults?.(sent) ?? sent
    const merged = subresource.merge(filled, before, rest)
    return { ...merged, metadata: before.metadata }
  }
  if (subresource !== undefined) {
    const metadata = { ...mergeMeta(sent.metadata, before.metadata), ownerReferences: before.metadata.ownerReferences }
    const changed = { ...before, metadata, status: sent.status }
    return rules.prepareStatus?.(changed, before) ?? changed
  }
  const filled = rules.fillDefaults?.(sent) ?? sent
  const hasStatus = resource.subresources.some(({ name }) => name === 'status')
  const object: ApiObject = {
    ...filled,
    metadata: mergeMeta(sent.metadata, before.metadata),
    ...(hasStatus && { status: before.status }),
  }
  return rules.prepareUpdate?.(object, before, rest) ?? object
}

/** Labels, annotations, finalizers and owners are the sender's; everything else is the server's. */
function mergeMeta(sent: ObjectMeta, before: ObjectMeta): ObjectMeta {
  const { labels, annotations, finalizers, ownerReferences, generateName = before.generateName } = sent
  return { ...before, labels, annotations, finalizers, ownerReferences, generateName }
}

function counted(resource: Resource, { subresource }: ObjectUpdate, object: ApiObject, before: ApiObject): ApiObject {
  const areAnnotationsCounted = resource.countsAnnotations && subresource === undefined
  const isSame =
    (resource.countsAllFields === true
      ? sameValue(contentOf(resource, object), contentOf(resource, before))
      : sameValue(object.spec, before.spec)) &&
    (!areAnnotationsCounted || sameValue(object.metadata.annotations ?? {}, before.metadata.annotations ?? {}))
  if (!resource.hasGeneration || isSame) return object
  return { ...object, metadata: { ...object.metadata, generation: Number(before.metadata.generation ?? 0) + 1 } }
}

function contentOf(resource: Resource, object: ApiObject): object {
  const hasStatus = resource.subresources.some(({ name }) => name === 'status')
  return { ...object, metadata: undefined, apiVersion: undefined, ...(hasStatus && { status: undefined }) }
}

function violationsOf(resource: Resource, subresource: Subresource | undefined, object: ApiObject, before: ApiObject) {
  const { rules } = resource
  const meta = [...validateObjectMeta(resource, object.metadata), ...validateFinalizers(object, before)]
  if (subresource?.merge) return [...meta, ...(subresource.validate?.(object, before) ?? [])]
  if (subresource !== undefined) return [...meta, ...(rules.validateStatus?.(object, before) ?? [])]
  // The rules of pods validate only the differences of a changed pod.
  const whole = resource.plural === 'pods' || rules.judgesChanges === true ? [] : (rules.validate?.(object) ?? [])
  return [...meta, ...whole, ...(rules.validateUpdate?.(object, before) ?? [])]
}
