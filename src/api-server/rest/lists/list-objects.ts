import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import { badRequest, expired, invalid, versionTooLarge } from '../../api-error.ts'
import type { Resource } from '../../kinds/resource.ts'
import type { ApiObject, StoredObject } from '../../store/api-object.ts'
import type { ApiStore } from '../../store/api-store.ts'
import { CompactedError } from '../../store/store-errors.ts'
import { formatContinueToken, parseContinueToken } from './continue-token.ts'
import type { ContinueToken } from './continue-token.ts'
import { parseFieldSelector } from './field-selector.ts'
import type { FieldSelector } from './field-selector.ts'
import { parseLabelSelector } from './parse-label-selector.ts'
import type { SelectsLabels } from '../../../model/schema/parse-selector-text.ts'
import { readNumber } from '../request-info.ts'

/** Which objects of a resource are meant. */
export interface ListSelection {
  readonly resource: Resource
  /** Undefined: of all namespaces. */
  readonly namespace: string | undefined
  readonly labels: SelectsLabels | undefined
  readonly fields: FieldSelector | undefined
}

export interface ListResult {
  readonly items: readonly StoredObject[]
  readonly metadata: {
    readonly resourceVersion: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
}

// How many are read at once while searching for the selected ones.
const CHUNK = 500

export function parseSelection(resource: Resource, namespace: string, query: URLSearchParams): ListSelection {
  return {
    resource,
    namespace: namespace === '' ? undefined : namespace,
    labels: parseLabelSelector(query.get('labelSelector')),
    fields: parseFieldSelector(query.get('fieldSelector'), resource),
  }
}

/** Whether labels and fields of a stored object are selected; its namespace is not checked. */
export function isSelected({ labels, fields }: ListSelection, object: ApiObject): boolean {
  return (labels?.(object.metadata.labels ?? {}) ?? true) && (fields?.matches(object) ?? true)
}

/** A list, or a part of one, by the rules of limit, continue, resourceVersion and resourceVersionMatch. */
export function listObjects(store: ApiStore, selection: ListSelection, query: URLSearchParams): ListResult {
  const limit = readLimit(query)
  const token = query.get('continue') ? parseContinueToken(query.get('continue') ?? '') : undefined
  const version = versionToList(store, query, token, limit > 0)
  try {
    return readPage(store, selection, { limit, token, version })
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error
    const rest = token && formatContinueToken({ ...token, version: undefined })
    throw expired(
      token === undefined
        ? `The resourceVersion for the provided list is too old.`
        : 'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results.',
      rest,
    )
  }
}

/** Less than one means all. */
function readLimit(query: URLSearchParams): number {
  return /^-\d+$/.test(query.get('limit') ?? '') ? 0 : (readNumber(query, 'limit') ?? 0)
}

function versionToList(
  store: ApiStore,
  query: URLSearchParams,
  token: ContinueToken | undefined,
  isLimited: boolean,
): number {
  const asked = readVersion(query)
  const match = query.get('resourceVersionMatch') || undefined
  checkMatch(match, query, token)
  if (token !== undefined) return token.version ?? store.version
  if (asked !== undefined && asked > store.version) throw versionTooLarge(asked, store.version)
  // An old rule: a limited list without a word on how to match means exactly that version.
  const isExact = match === 'Exact' || (match === undefined && isLimited && asked !== undefined && asked > 0)
  return isExact && asked !== undefined ? asked : store.version
}

function checkMatch(match: string | undefined, query: URLSearchParams, token: ContinueToken | undefined): void {
  const problems = new ProblemList()
  const path = FieldPath.root.child('resourceVersionMatch')
  const asked = query.get('resourceVersion') ?? ''
  if (token !== undefined && asked !== '' && asked !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue')
  }
  if (query.has('sendInitialEvents')) {
    problems.forbidden(FieldPath.root.child('sendInitialEvents'), 'only a watch has it')
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, problems.violations)
  }
  if (match === undefined) return
  if (match !== 'Exact' && match !== 'NotOlderThan') problems.unsupported(path, match, ['Exact', 'NotOlderThan'])
  if (asked === '') problems.forbidden(path, 'it needs a resourceVersion')
  if (token !== undefined) problems.forbidden(path, 'a continued list has its version already')
  if (match === 'Exact' && asked === '0') problems.forbidden(path, 'version "0" means any, which cannot be exact')
  if (problems.violations.length > 0) {
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, problems.violations)
  }
}

/** The version of a query; undefined when it is not given. */
export function readVersion(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion')
  if (text === null || text === '') return undefined
  const version = /^\d{1,19}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(version)) throw badRequest(`Invalid value for resourceVersion: ${JSON.stringify(text.slice(0, 50))}`)
  return version
}

interface Page {
  readonly limit: number
  readonly token: ContinueToken | undefined
  readonly version: number
}

function readPage(store: ApiStore, selection: ListSelection, { limit, token, version }: Page): ListResult {
  const { resource, namespace } = selection
  const isFiltered = selection.labels !== undefined || selection.fields !== undefined
  const single = singleObject(store, selection, version)
  const items: StoredObject[] = [...(single ?? [])]
  let after: { readonly namespace: string; readonly name: string } | undefined = token
  // One more than asked for, to know whether there are more.
  const wanted = limit === 0 ? Number.POSITIVE_INFINITY : limit + 1
  for (let isMore = single === undefined; isMore;) {
    const part = { resource: resource.storage, namespace, containing: selection.fields?.word }
    const chunk = store.list({ ...part, version, after, limit: Math.min(wanted, CHUNK) })
    items.push(...(isFiltered ? chunk.filter(({ object }) => isSelected(selection, object)) : chunk))
    after = chunk.at(-1)?.key
    isMore = chunk.length >= Math.min(wanted, CHUNK) && items.length < wanted
  }
  const metadata = { resourceVersion: String(version) }
  if (limit === 0 || items.length <= limit) return { items, metadata }
  const page = items.slice(0, limit)
  const last = page.at(-1)?.key ?? { namespace: '', name: '' }
  const next = formatContinueToken({ version, namespace: last.namespace, name: last.name })
  const remaining =
    isFiltered || token !== undefined ? undefined : store.count({ resource: resource.storage, namespace }) - limit
  return {
    items: page,
    metadata: {
      ...metadata,
      continue: next,
      ...(remaining !== undefined && remaining > 0 && { remainingItemCount: remaining }),
    },
  }
}

/** The one object that a selector names, without reading the others; undefined when it names none. */
function singleObject(store: ApiStore, selection: ListSelection, version: number): readonly StoredObject[] | undefined {
  const { resource, namespace = '', fields } = selection
  if (fields?.name === undefined || version !== store.version) return undefined
  if (resource.isNamespaced && namespace === '') return undefined
  const stored = store.get({ resource: resource.storage, namespace, name: fields.name })
  return stored !== undefined && isSelected(selection, stored.object) ? [stored] : []
}
