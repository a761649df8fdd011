import type { DocumentObject } from '../../base/document/document-value.ts'
import { allResources } from '../kinds/all-resources.ts'
import type { Resource } from '../kinds/resource.ts'
import type { ApiObject } from '../store/api-object.ts'
import { builtinSchema, withEmbedded } from './builtin-schema.ts'
import { FieldSet } from './field-set.ts'
import type { ElementPath } from './field-set.ts'
import { customResourceSchema } from './structural-schema.ts'
import type { KindVersion, TrackedPath } from './track-fields.ts'

const known = new WeakMap<Resource, Map<string, TrackedPath>>()

/** How the fields of a resource are tracked when it is written under one of its paths; the path of the object itself has no name. */
export function trackedPathOf(resource: Resource, subresource: string): TrackedPath {
  const paths = known.getOrInsertComputed(resource, () => new Map<string, TrackedPath>())
  return paths.getOrInsertComputed(subresource, () => ({
    apiVersion: apiVersionOf(resource),
    subresource,
    versions: new Map(versionsOf(resource)),
    filter: filterOf(resource, subresource),
  }))
}

function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`
}

function versionsOf(resource: Resource): readonly (readonly [string, KindVersion])[] {
  const { custom } = resource
  if (custom !== undefined) {
    const version = { schema: customResourceSchema(custom.schema), toVersion: withoutManagedFields }
    return custom.apiVersions.map((apiVersion) => [apiVersion, version] as const)
  }
  return allResources
    .filter(({ storage }) => storage === resource.storage)
    .map((each) => [apiVersionOf(each), builtinVersion(each)] as const)
}

function builtinVersion({ typeName, convert }: Resource): KindVersion {
  return {
    schema: builtinSchema(typeName),
    toVersion: (object) => {
      const stored = object as unknown as ApiObject
      return withEmbedded(withoutManagedFields(toDocument(convert?.fromStored(stored) ?? stored)), typeName)
    },
  }
}

/** An object as a tree of values. */
export function toDocument(object: ApiObject): DocumentObject {
  return object as unknown as DocumentObject
}

function withoutManagedFields(object: DocumentObject): DocumentObject {
  const { managedFields: _, ...metadata } = (object['metadata'] ?? {}) as DocumentObject
  return { ...object, metadata }
}

/** Empty objects of a built-in kind already have what is never absent; those of others have nothing. */
export function emptyObject({ group, version, kind, custom, typeName }: Resource): DocumentObject {
  const empty = { apiVersion: apiVersionOf({ group, version } as Resource), kind }
  return custom === undefined ? withEmbedded(empty, typeName) : empty
}

const STATUS: ElementPath = ['f:status']
const SPEC: ElementPath = ['f:spec']
const METADATA: ElementPath = ['f:metadata']

/** What a write does not change whatever it says, by resource and path; the others are in filterOf(). */
const RESET: Readonly<Record<string, readonly ElementPath[]>> = {
  'pods/status': [SPEC, ['f:metadata', 'f:deletionTimestamp'], ['f:metadata', 'f:ownerReferences']],
  'deployments.apps/status': [SPEC, ['f:metadata', 'f:labels']],
  'certificatesigningrequests.certificates.k8s.io/': [SPEC, STATUS],
  'certificatesigningrequests.certificates.k8s.io/status': [SPEC, ['f:status', 'f:conditions']],
  'certificatesigningrequests.certificates.k8s.io/approval': [SPEC, ['f:status', 'f:certificate']],
  'resourceclaims.resource.k8s.io/status': [METADATA, SPEC],
  'volumeattachments.storage.k8s.io/status': [METADATA, SPEC],
  'namespaces/finalize': [STATUS],
}

/** The only fields that a write on a path changes. */
const KEPT: Readonly<Record<string, readonly ElementPath[]>> = {
  'pods/ephemeralcontainers': [['f:spec', 'f:ephemeralContainers']],
  'pods/resize': ['f:containers', 'f:initContainers'].flatMap((list) =>
    ['f:resources', 'f:resizePolicy'].map((field) => ['f:spec', list, '*', field]),
  ),
}

function filterOf(resource: Resource, subresource: string): (fields: FieldSet) => FieldSet {
  const name = `${resource.storage}/${subresource}`
  const kept = KEPT[name]
  if (kept !== undefined) return (fields) => fields.onlyBelow(kept)
  const reset = FieldSet.of(...(RESET[name] ?? commonReset(resource, subresource)))
  return (fields) => fields.without(reset)
}

function commonReset({ subresources, custom }: Resource, subresource: string): readonly ElementPath[] {
  if (subresource === 'status') return custom === undefined ? [SPEC] : [METADATA, SPEC]
  return subresource === '' && subresources.some(({ name }) => name === 'status') ? [STATUS] : []
}
