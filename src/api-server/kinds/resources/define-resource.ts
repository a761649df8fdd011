import { dnsSubdomain } from '../../../model/schema/validation/name-rules.ts'
import type { NameRule } from '../../../model/schema/validation/problem-list.ts'
import type { ApiObject } from '../../store/api-object.ts'
import type { Resource, SubresourcePath } from '../resource.ts'
import type { ObjectIn, ObjectNamed } from '../stored-types.ts'
import { ALL_VERBS } from '../verb-lists.ts'
import { nameAndAge } from '../table-columns.ts'

/** The status, which only the observers of an object write; the object itself is written by its users. */
export const statusSubresource: SubresourcePath = { name: 'status', verbs: ['get', 'patch', 'update'] }

/** A path segment, as events and certificate requests may be called. */
export const pathSegment: NameRule = (value) =>
  value.length <= 253 && !/[/%]/.test(value) && value !== '.' && value !== '..' ? undefined : 'must fit into a path'

/** What a row says; the rest is as for most kinds. */
type Definition<T extends ApiObject, S extends ApiObject> = { readonly kind: string } & Partial<
  Omit<Resource<T, S>, 'storage' | 'plural' | 'typeName'>
>

/**
 * One row: where the objects are stored, as "leases.coordination.k8s.io", which gives them their type (stored-types.ts), and what is
 * special about them. The second signature forgets that type again, here and nowhere else: a table of all resources has what they
 * have in common, and the verbs pass to the rules of a resource only objects of that resource.
 */
export function defineResource<R extends string, N extends string = string>(
  storage: R,
  definition: Definition<ObjectIn<R>, ObjectNamed<N>> & { readonly typeName?: N },
): Resource
export function defineResource(storage: string, definition: Definition<ApiObject, ApiObject>): Resource {
  const [plural = '', ...group] = storage.split('.')
  const { kind } = definition
  return {
    group: group.join('.'),
    version: 'v1',
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    isNamespaced: false,
    verbs: ALL_VERBS,
    typeName: kind,
    hasSchema: true,
    storage,
    nameRule: dnsSubdomain,
    hasGeneration: false,
    countsAnnotations: false,
    createsOnUpdate: false,
    updatesUnconditionally: true,
    answersDeleted: false,
    subresources: [],
    selectableFields: {},
    columns: nameAndAge,
    rules: {},
    ...definition,
  }
}
