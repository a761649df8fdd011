import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import { invalid, notFound } from '../../api-error.ts'
import type { ApiStatus } from '../../api-error.ts'
import { namedIn } from '../../lifecycle/change-set.ts'
import { deleteObject } from '../../lifecycle/delete-object.ts'
import type { DeleteOptions } from '../../../model/generated/core-v1.ts'
import type { ExpectedType, Resource } from '../../kinds/resource.ts'
import type { ApiObject, StoredObject } from '../../store/api-object.ts'
import { negotiateForm } from '../accept.ts'
import { changeObjects, readDryRun } from '../api-context.ts'
import type { ApiDeps, ChangeResult } from '../api-context.ts'
import { jsonResponse, textResponse } from '../api-request.ts'
import type { ApiRequest, ApiResponse } from '../api-request.ts'
import { decodeBody, readDocument } from '../decode-body.ts'
import { listObjects, parseSelection } from '../lists/list-objects.ts'
import { presentList, presentObject } from '../present.ts'
import { isTrue, readInt64 } from '../request-info.ts'
import { dryRunOf, keyIn } from '../resource-request.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import { toApiTime } from '../../../model/text/api-time.ts'

const POLICIES = ['Background', 'Foreground', 'Orphan']

/** DELETE of one object: the object if it stays for a while, otherwise that it is gone. */
export async function deleteVerb(deps: ApiDeps, asked: ResourceRequest): Promise<ApiResponse> {
  const { request, resource } = asked
  const { options, isDryRun } = await readOptions(asked)
  const { object, isGone } = await removeOne(deps, asked, { user: request.user, isDryRun }, options)
  if (isGone && !resource.answersDeleted) return jsonResponse(200, success(asked, object))
  const form = negotiateForm(request.headers['accept'])
  const shown = isGone ? ended(deps, resource, object) : object
  return jsonResponse(200, presentObject({ resource, form, includeObject: 'Metadata', now: deps.clock.now() }, shown))
}

/** DELETE of all that is selected. */
export async function deleteCollectionVerb(deps: ApiDeps, asked: ResourceRequest): Promise<ApiResponse> {
  const { request, info, resource } = asked
  const { options, isDryRun } = await readOptions(asked)
  const selection = parseSelection(resource, info.namespace, info.query)
  const form = negotiateForm(request.headers['accept'])
  const { items, metadata } = listObjects(deps.store, selection, info.query)
  for (const { key } of items) {
    await changeObjects(deps, { user: request.user, isDryRun }, (changes) => {
      const stored = changes.get(key)
      return { key, object: stored === undefined ? GONE : deleteObject(changes, resource, stored, options) }
    })
  }
  return textResponse(
    200,
    presentList({ resource, form, includeObject: 'Metadata', now: deps.clock.now() }, items, metadata),
  )
}

const GONE: ApiObject = { apiVersion: '', kind: '', metadata: {} }

/** The last state of an object; of one that could have had a grace, with the word that it had none. */
function ended({ clock }: ApiDeps, { rules }: Resource, object: ApiObject): ApiObject {
  if (rules.gracePeriodSeconds === undefined) return object
  const { deletionTimestamp, generation } = object.metadata
  const marked =
    deletionTimestamp === undefined
      ? { deletionTimestamp: toApiTime(clock.now()), generation: Number(generation ?? 0) + 1 }
      : {}
  return { ...object, metadata: { ...object.metadata, ...marked, deletionGracePeriodSeconds: 0 } }
}

function success({ resource, info }: ResourceRequest, { metadata }: ApiObject): ApiStatus {
  const group = resource.group === '' ? {} : { group: resource.group }
  const details = { name: info.name, ...group, kind: resource.plural, uid: metadata.uid ?? '' }
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
}

/** Deletes the object of the path. */
function removeOne(
  deps: ApiDeps,
  asked: ResourceRequest,
  request: { readonly user: ApiRequest['user']; readonly isDryRun: boolean },
  options: DeleteOptions,
): Promise<ChangeResult> {
  const { resource, info } = asked
  return changeObjects(deps, request, (changes) => {
    const key = keyIn(asked, info.name)
    const stored: StoredObject | undefined = changes.get(key)
    if (stored === undefined) throw notFound(namedIn(resource, info.name))
    return { key, object: deleteObject(changes, resource, stored, options) }
  })
}

/** Options of a deletion, from the body, or from the query when there is no body. */
async function readOptions({ request, info }: ResourceRequest): Promise<{ options: DeleteOptions; isDryRun: boolean }> {
  const { query } = info
  const inQuery = dryRunOf(request, info).isDryRun
  const body = await readOptionsBody(request)
  if (body !== undefined) {
    checkPolicy(body)
    return { options: body, isDryRun: inQuery || readDryRun(body.dryRun ?? []) }
  }
  const options: DeleteOptions = {
    gracePeriodSeconds: readInt64(query, 'gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy') || undefined,
    orphanDependents: query.has('orphanDependents') ? isTrue(query.get('orphanDependents')) : undefined,
  }
  checkPolicy(options)
  return { options, isDryRun: inQuery }
}

async function readOptionsBody(request: ApiRequest): Promise<DeleteOptions | undefined> {
  // Read once here, so that an empty body needs no type.
  const bytes = await request.readBody(MAX_OPTIONS_BYTES)
  if (bytes.length === 0) return undefined
  const document = await readDocument({ ...request, readBody: () => Promise.resolve(bytes) }, OPTIONS_TYPE)
  // The options may name the group of what is deleted.
  const value = isRecord(document.value) ? { ...document.value, apiVersion: '' } : document.value
  const { object } = decodeBody({ value, duplicates: document.duplicates }, OPTIONS_TYPE)
  return object
}

const OPTIONS_TYPE: ExpectedType<'DeleteOptions'> = {
  group: '',
  version: 'v1',
  kind: 'DeleteOptions',
  typeName: 'DeleteOptions',
}
const MAX_OPTIONS_BYTES = 1024 * 1024

function checkPolicy({ propagationPolicy, orphanDependents }: DeleteOptions): void {
  const problems = new ProblemList()
  const path = FieldPath.root.child('propagationPolicy')
  if (propagationPolicy !== undefined && !POLICIES.includes(propagationPolicy)) {
    problems.unsupported(path, propagationPolicy, POLICIES)
  }
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    problems.invalid(path, propagationPolicy, 'cannot be set together with orphanDependents')
  }
  if (problems.violations.length > 0) {
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions', name: '' }, problems.violations)
  }
}
