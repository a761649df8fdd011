import type { Resource } from '../kinds/resource.ts'
import { apiVersionOf } from '../rest/present.ts'
import type { SchemaJson } from './describe-types.ts'

/** An operation before it has its body and answers, which every version of OpenAPI writes in its own way. */
export interface Operation {
  readonly path: string
  readonly method: string
  readonly action: string
  readonly resource: Resource
  /** Names of the parameters in its query. */
  readonly parameters: readonly string[]
}

const OF_ONE = { get: 'get', put: 'update', patch: 'patch', delete: 'delete' }
const WRITING = ['dryRun', 'fieldManager', 'fieldValidation']

/** The operations that show clients which verbs and parameters a resource has. */
export function listOperations(resource: Resource): readonly Operation[] {
  const { group, isNamespaced, plural, verbs } = resource
  const root = `${group === '' ? '/api' : '/apis'}/${apiVersionOf(resource)}${isNamespaced ? '/namespaces/{namespace}' : ''}/${plural}`
  const ofOne = Object.entries(OF_ONE).filter(([, verb]) => verbs.includes(verb))
  return [
    ...(verbs.includes('list') ? [{ path: root, method: 'get', action: 'list', resource, parameters: [] }] : []),
    ...(verbs.includes('create')
      ? [{ path: root, method: 'post', action: 'post', resource, parameters: WRITING }]
      : []),
    ...ofOne.map(([method]) => ({
      path: `${root}/{name}`,
      method,
      action: method,
      resource,
      parameters: method === 'get' ? [] : WRITING,
    })),
  ]
}

/** What marks an operation as one of Kubernetes. */
export function marksOf({ action, resource: { group, version, kind } }: Operation): SchemaJson {
  return { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': { group, version, kind } }
}

/** Operations by path and method. */
export function toPaths(
  operations: readonly Operation[],
  describe: (operation: Operation) => SchemaJson,
): Readonly<Record<string, SchemaJson>> {
  const byPath = Map.groupBy(operations, ({ path }) => path)
  return Object.fromEntries(
    [...byPath].map(([path, group]) => [path, Object.fromEntries(group.map((each) => [each.method, describe(each)]))]),
  )
}
