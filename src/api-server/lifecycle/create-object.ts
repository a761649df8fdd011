import { alreadyExists, badRequest, forbidden, notFound } from '../api-error.ts'
import { fieldsOfNew, withManagedFields } from '../apply/managed-objects.ts'
import type { Resource } from '../kinds/resource.ts'
import type { ApiObject } from '../store/api-object.ts'
import { storeKeyOf, namedIn } from './change-set.ts'
import type { ChangeSet } from './change-set.ts'
import { failIfInvalid, validateGeneratedName, validateObjectMeta } from './validate-object.ts'
import { toApiTime } from '../../model/text/api-time.ts'

const NAME_TRIES = 8

/** Makes a new object of what a request has; gives it as it is stored. What is applied says itself who owns its fields. */
export function createObject(changes: ChangeSet, resource: Resource, sent: ApiObject, isApply = false): ApiObject {
  if (sent.metadata.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created')
  if (resource.isNamespaced) requireNamespace(changes, resource, sent)
  const identified = identify(changes, resource, sent)
  const { rules } = resource
  const filled = rules.fillDefaults?.(identified) ?? identified
  const prepared = rules.prepareCreate?.(filled, changes.requestContext) ?? withoutStatus(resource, filled)
  const object = withManagedFields(
    prepared,
    isApply ? sent.metadata.managedFields : fieldsOf(changes, resource, sent, filled),
  )
  const key = storeKeyOf(resource, object)
  failIfInvalid(resource, object, [
    ...validateObjectMeta(resource, object.metadata),
    ...validateGeneratedName(resource, object.metadata),
    ...(rules.validate?.(object) ?? []),
    ...(rules.validateCreate?.(object) ?? []),
  ])
  changes.warn(rules.warn?.(object, undefined))
  if (changes.get(key) !== undefined) throw alreadyExists(namedIn(resource, key.name))
  return changes.put(key, object)
}

/** What the server decides about a new object has no owner, so this is about what was sent, with its defaults. */
function fieldsOf(changes: ChangeSet, resource: Resource, sent: ApiObject, filled: ApiObject) {
  const writer = changes.fieldWriter
  if (writer === undefined) return undefined
  const { managedFields } = sent.metadata
  return fieldsOfNew(resource, { ...filled, metadata: { ...filled.metadata, managedFields } }, writer)
}

/** The status is not the creator's to say; a node is its own creator, and registers with what it is. */
function withoutStatus(resource: Resource, object: ApiObject): ApiObject {
  const hasStatus = resource.subresources.some(({ name }) => name === 'status')
  return hasStatus && resource.plural !== 'nodes' ? { ...object, status: {} } : object
}

function identify(changes: ChangeSet, resource: Resource, sent: ApiObject): ApiObject {
  const { labels, annotations, finalizers, ownerReferences, namespace, generateName } = sent.metadata
  return {
    ...sent,
    metadata: {
      name: nameFor(changes, resource, sent),
      ...(generateName && { generateName }),
      ...(resource.isNamespaced && { namespace }),
      uid: changes.info.newUid(),
      creationTimestamp: toApiTime(changes.info.now),
      ...(resource.hasGeneration && { generation: 1 }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ...(ownerReferences && { ownerReferences }),
    },
  }
}

function nameFor(changes: ChangeSet, resource: Resource, { metadata }: ApiObject): string {
  if (metadata.name || !metadata.generateName) return metadata.name ?? ''
  // The longest prefix that leaves room for what is added.
  const prefix = metadata.generateName.slice(0, 58)
  for (let tries = 0; tries < NAME_TRIES; tries++) {
    const name = `${prefix}${changes.info.nameSuffix()}`
    const key = storeKeyOf(resource, { metadata: { ...metadata, name } })
    if (changes.get(key) === undefined) return name
  }
  throw alreadyExists(namedIn(resource, metadata.generateName))
}

function requireNamespace(changes: ChangeSet, resource: Resource, sent: ApiObject): void {
  const name = sent.metadata.namespace ?? ''
  const namespace = changes.get({ resource: 'namespaces', namespace: '', name })?.object
  if (namespace === undefined) throw notFound({ group: '', resource: 'namespaces', name })
  if (namespace.metadata.deletionTimestamp === undefined) return
  const message = `namespace ${name} is being terminated`
  throw forbidden(
    namedIn(resource, sent.metadata.name ?? sent.metadata.generateName ?? ''),
    `unable to create new content in namespace ${name} because it is being terminated`,
    [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }],
  )
}
