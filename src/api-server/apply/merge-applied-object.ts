import type { DocumentObject, DocumentValue } from '../../base/document/document-value.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { badRequest, typeFault } from '../api-error.ts'
import type { Resource, Subresource } from '../kinds/resource.ts'
import type { ApiObject } from '../store/api-object.ts'
import { builtinSchema, withEmbedded } from './builtin-schema.ts'
import { checkValue } from './check-value.ts'
import { noteLastApplied, trackApplyAfterClient } from './last-applied.ts'
import { encodeOwners } from './managed-fields.ts'
import type { FieldOwners } from './managed-fields.ts'
import { liveOwners, withManagedFields } from './managed-objects.ts'
import { SCALE_VERSION, toObjectOwners, toScaleOwners } from './scale-owners.ts'
import { emptyObject, toDocument, trackedPathOf } from './tracked-path.ts'
import { BEFORE_FIRST_APPLY, trackUpdate } from './track-fields.ts'
import type { FieldWriter, TrackedPath } from './track-fields.ts'

/** An apply: what is there, what is applied to it, and how the outcome becomes an object that can be stored. */
export interface ObjectApply {
  /** Undefined: it is made. */
  readonly before: ApiObject | undefined
  readonly applied: DocumentObject
  /** From the form of the request. */
  readonly decode: (value: DocumentValue) => ApiObject
}

type Applier = FieldWriter & { readonly isForced: boolean }

/** The object as an apply makes it, with its owners. Throws ApiError, or FieldConflictError for what others own. */
export function mergeAppliedObject(
  resource: Resource,
  subresource: Subresource | undefined,
  apply: ObjectApply,
  writer: Applier,
): ApiObject {
  const { before, applied } = apply
  const isScale = subresource?.convert !== undefined
  const path = isScale ? scalePath(subresource) : trackedPathOf(resource, subresource?.name ?? '')
  check(path, applied)
  if (isScale && before !== undefined) return applyScale(resource, { ...apply, before, subresource, path }, writer)
  const owners = before === undefined ? new Map() : ownersBefore(resource, subresource?.name ?? '', before, writer)
  const live = before === undefined ? emptyObject(resource) : toDocument(before)
  const outcome = trackApplyAfterClient(path, owners, { live, applied }, writer)
  const object = outcome.object === undefined && before !== undefined ? before : apply.decode(outcome.object ?? live)
  const noted = noteLastApplied(writer.manager, object, applied)
  return withManagedFields(noted, encodeOwners(outcome.owners))
}

/** Applying needs managers to compare with: fields without one belong to a manager "before first apply". */
function ownersBefore(resource: Resource, subresource: string, before: ApiObject, writer: Applier): FieldOwners {
  const owners = liveOwners(before.metadata.managedFields)
  if (owners.size > 0) return owners
  const objects = { before: emptyObject(resource), after: toDocument(before) }
  return firstOwners(trackedPathOf(resource, subresource), objects, writer)
}

function firstOwners(
  path: TrackedPath,
  objects: { readonly before: DocumentObject; readonly after: DocumentObject },
  writer: Applier,
): FieldOwners {
  return trackUpdate(path, new Map(), objects, { ...writer, manager: BEFORE_FIRST_APPLY })
}

interface Names {
  readonly name?: string
  readonly namespace?: string
}

function check(path: TrackedPath, applied: DocumentObject): void {
  const metadata = isRecord(applied['metadata']) ? applied['metadata'] : {}
  if (metadata['managedFields'] !== undefined && metadata['managedFields'] !== null) {
    throw badRequest('metadata.managedFields must be nil')
  }
  const schema = path.versions.get(path.apiVersion)?.schema
  const problems = schema === undefined ? [] : checkValue(applied, schema)
  if (problems.length === 0) return
  const [group, version] = path.apiVersion.includes('/') ? path.apiVersion.split('/') : ['', path.apiVersion]
  const { name = '', namespace = '', kind } = { ...(metadata as Names), kind: applied['kind'] as string }
  const about = `${namespace}/${name}; ${group}/${version}, Kind=${kind}`
  const what = problems.length === 1 ? problems[0] : ['errors:', ...problems.map((each) => `  ${each}`)].join('\n')
  throw typeFault(`failed to create typed patch object (${about}): ${what}`)
}

const REPLICAS = ['f:spec', 'f:replicas']
const EMPTY_SCALE: DocumentObject = { apiVersion: SCALE_VERSION, kind: 'Scale' }

/** A Scale is typed as such, whatever it scales. */
function scalePath({ convert }: Subresource): TrackedPath {
  const toVersion = (object: DocumentObject) => {
    const isScale = convert === undefined || object['kind'] === 'Scale'
    return withEmbedded(isScale ? object : toDocument(convert.fromObject(object as unknown as ApiObject)), 'Scale')
  }
  const versions = new Map([[SCALE_VERSION, { schema: builtinSchema('Scale'), toVersion }]])
  return { apiVersion: SCALE_VERSION, subresource: 'scale', versions, filter: (fields) => fields }
}

/** An apply of a number of replicas: the object that is scaled notes who owns it. */
function applyScale(
  resource: Resource,
  {
    before,
    applied,
    decode,
    subresource,
    path,
  }: ObjectApply & { readonly before: ApiObject; readonly subresource: Subresource; readonly path: TrackedPath },
  writer: Applier,
): ApiObject {
  const { replicasPath = REPLICAS } = subresource
  const owners = liveOwners(before.metadata.managedFields)
  const live = toDocument(before)
  const scaleOwners = toScaleOwners(owners, replicasPath)
  const all = scaleOwners.size > 0 ? scaleOwners : firstOwners(path, { before: EMPTY_SCALE, after: live }, writer)
  const outcome = trackApplyAfterClient(path, all, { live, applied }, writer)
  const { apiVersion } = trackedPathOf(resource, '')
  const next = toObjectOwners(owners, outcome.owners, { apiVersion, replicas: replicasPath })
  const scaled =
    outcome.object === undefined ? before : (subresource.convert?.toObject(decode(outcome.object), before) ?? before)
  return withManagedFields(scaled, encodeOwners(next))
}
