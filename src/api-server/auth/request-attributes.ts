import type { FieldSelectorAttributes } from '../../model/generated/api-groups.ts'
import type { RequestUser } from '../kinds/resource.ts'
import { COLLECTION_VERBS } from '../kinds/verb-lists.ts'
import type { ReviewedAccess } from '../rest/verbs/reviews.ts'
import type { RequestInfo } from '../rest/request-info.ts'

/** What is to be allowed or not: who wants to do what to which. */
export interface RequestAttributes {
  readonly user: RequestUser
  /** False: only path and verb say something. */
  readonly isResource: boolean
  readonly verb: string
  readonly path: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  /** Empty: of no namespace, or of all. */
  readonly namespace: string
  /** Empty: of all, or of an object that is not there yet. */
  readonly name: string
  /** Fields that have to have these values. */
  readonly fields: Readonly<Record<string, string>>
}

/** The attributes of a request. */
export function toAttributes(user: RequestUser, info: RequestInfo): RequestAttributes {
  const { isResource, verb, path, group, resource, subresource, namespace, name, query } = info
  const fields = COLLECTION_VERBS.includes(verb) ? parseEqualities(query.getAll('fieldSelector')) : {}
  return named({ user, isResource, verb, path, group, resource, subresource, namespace, name, fields })
}

/** The attributes of a question in a review. */
export function toAskedAttributes({
  user,
  resourceAttributes,
  nonResourceAttributes,
}: ReviewedAccess): RequestAttributes {
  const none = { group: '', resource: '', subresource: '', namespace: '', name: '', fields: {} }
  if (resourceAttributes === undefined) {
    const { verb = '', path = '' } = nonResourceAttributes ?? {}
    return { ...none, user, isResource: false, verb, path }
  }
  const { verb = '', group = '', resource = '', subresource = '', namespace = '', name = '' } = resourceAttributes
  const fields = toFields(resourceAttributes.fieldSelector)
  return { user, isResource: true, path: '', verb, group, resource, subresource, namespace, name, fields }
}

/** A list of the one object of a name is about that object. */
function named(attributes: RequestAttributes): RequestAttributes {
  const { name, fields, verb } = attributes
  if (name !== '' || !COLLECTION_VERBS.includes(verb)) return attributes
  return { ...attributes, name: fields['metadata.name'] ?? '' }
}

function parseEqualities(selectors: readonly string[]): Readonly<Record<string, string>> {
  const [selector = ''] = selectors
  // Only what cannot be read in another way counts: not one of several, and nothing with commas that do not separate.
  if (selectors.length !== 1 || selector.includes('\\')) return {}
  const terms = selector.split(',').map((term) => /^([\w.]+)==?([^=!]+)$/.exec(term.trim()))
  return Object.fromEntries(terms.flatMap((match) => (match === null ? [] : [[match[1] ?? '', match[2] ?? '']])))
}

function toFields({ rawSelector, requirements = [] }: FieldSelectorAttributes = {}): Readonly<Record<string, string>> {
  if (rawSelector !== undefined && rawSelector !== '') return parseEqualities([rawSelector])
  const equalities = requirements.filter(({ operator, values }) => operator === 'In' && values?.length === 1)
  return Object.fromEntries(equalities.map(({ key, values }) => [key, values?.[0] ?? '']))
}
