import { createHash } from 'node:crypto'
import { apiTypes } from '../../schema/api-types.ts'
import type { Field, ValueType } from '../../schema/object-type.ts'
import type { Resource } from '../kinds/resource.ts'
import { apiVersionOf, resourcesByGroup } from './present.ts'

type Json = Readonly<Record<string, unknown>>

const groups = resourcesByGroup()
const SCALARS: Readonly<Record<string, Json>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  number: { type: 'number', format: 'double' },
  Quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  Time: { type: 'string', format: 'date-time' },
  IntOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  bytes: { type: 'string', format: 'byte' },
  any: { type: 'object' },
}

/** OpenAPI v3 of the API: an index and one document for each group and version, made when first asked for. */
export class OpenApi {
  readonly #version: string
  readonly #documents = new Map<string, string>()

  constructor(version: string) {
    this.#version = version
  }

  /** GET /openapi/v3. */
  index(): object {
    const paths = [...groups.keys()].map((group) => {
      const path = pathOf(group)
      const hash = createHash('sha256')
        .update(this.document(path) ?? '')
        .digest('hex')
        .slice(0, 32)
      return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }] as const
    })
    return { paths: Object.fromEntries(paths) }
  }

  /** GET /openapi/v3/PATH; undefined when there is no such group. */
  document(path: string): string | undefined {
    const found = [...groups].find(([group]) => pathOf(group) === path)
    if (found === undefined) return undefined
    return this.#documents.getOrInsertComputed(path, () => JSON.stringify(this.#describe(found[1])))
  }

  #describe(resources: readonly Resource[]): Json {
    const schemas = new Map<string, Json>()
    for (const resource of resources) addRoot(schemas, resource)
    return {
      openapi: '3.0.0',
      info: { title: 'Kubernetes', version: this.#version },
      paths: Object.fromEntries(resources.flatMap(describePaths)),
      components: { schemas: Object.fromEntries(schemas) },
    }
  }
}

function pathOf(group: string): string {
  return group === '' ? 'api/v1' : `apis/${group}/v1`
}

function addRoot(schemas: Map<string, Json>, resource: Resource): void {
  addType(schemas, resource.typeName)
  const { group, version, kind } = resource
  const schema = schemas.get(resource.typeName)
  schemas.set(resource.typeName, { ...schema, 'x-kubernetes-group-version-kind': [{ group, version, kind }] })
}

function addType(schemas: Map<string, Json>, typeName: string): void {
  if (schemas.has(typeName)) return
  schemas.set(typeName, {})
  const fields = [...apiTypes.fieldsOf(typeName)]
  const required = fields.filter(([, field]) => field.isRequired).map(([name]) => name)
  schemas.set(typeName, {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, describeField(schemas, field)])),
    ...(required.length > 0 && { required }),
  })
}

function describeField(schemas: Map<string, Json>, field: Field): Json {
  const { type, patch } = field
  const strategy = [
    ...(patch === undefined || type.kind !== 'list' ? [] : ['merge']),
    ...(patch?.retainsKeys === true ? ['retainKeys'] : []),
  ]
  return {
    ...describeType(schemas, type),
    ...(field.default !== undefined && { default: field.default }),
    ...(type.kind === 'list' &&
      type.keys.length > 0 && { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': type.keys }),
    ...(patch?.mergeKey !== undefined && { 'x-kubernetes-patch-merge-key': patch.mergeKey }),
    ...(strategy.length > 0 && { 'x-kubernetes-patch-strategy': strategy.join(',') }),
  }
}

function describeType(schemas: Map<string, Json>, type: ValueType): Json {
  switch (type.kind) {
    case 'scalar':
      return SCALARS[type.name] ?? {}
    case 'list':
      return { type: 'array', items: describeType(schemas, type.of) }
    case 'map':
      return { type: 'object', additionalProperties: describeType(schemas, type.of) }
    case 'object':
      addType(schemas, type.name)
      return { allOf: [{ $ref: `#/components/schemas/${type.name}` }] }
  }
}

const ACTIONS: readonly (readonly [verb: string, method: string, action: string])[] = [
  ['get', 'get', 'get'],
  ['update', 'put', 'put'],
  ['patch', 'patch', 'patch'],
  ['delete', 'delete', 'delete'],
]

/** The paths that tell clients which verbs and parameters there are. */
function describePaths(resource: Resource): readonly (readonly [string, Json])[] {
  const { group, version, kind, isNamespaced, plural, verbs } = resource
  const root = `${group === '' ? '/api' : '/apis'}/${apiVersionOf(resource)}${isNamespaced ? '/namespaces/{namespace}' : ''}/${plural}`
  const kindOf = { 'x-kubernetes-group-version-kind': { group, version, kind } }
  const body = { content: { 'application/json': { schema: { $ref: `#/components/schemas/${resource.typeName}` } } } }
  const responses = { 200: { description: 'OK', ...body } }
  const written = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }))
  const create = { 'x-kubernetes-action': 'post', ...kindOf, parameters: written, requestBody: body, responses }
  const list = { 'x-kubernetes-action': 'list', ...kindOf, responses }
  const single = ACTIONS.filter(([verb]) => verbs.includes(verb)).map(([, method, action]) => {
    const parameters = method === 'get' ? {} : { parameters: written }
    return [method, { 'x-kubernetes-action': action, ...kindOf, ...parameters, responses }]
  })
  return [
    [root, { ...(verbs.includes('list') && { get: list }), ...(verbs.includes('create') && { post: create }) }],
    ...(single.length === 0 ? [] : [[`${root}/{name}`, Object.fromEntries(single) as Json] as const]),
  ]
}
