import { createHash } from 'node:crypto'
import type { Resource } from '../kinds/resource.ts'
import { apiVersionOf } from '../rest/present.ts'
import { listOperations, marksOf, toPaths } from './describe-paths.ts'
import type { Operation } from './describe-paths.ts'
import { COMMON_SCALARS, describeTypes } from './describe-types.ts'
import type { Dialect, SchemaJson } from './describe-types.ts'

/** One for each group and version. */
function groupsOf(all: readonly Resource[]): readonly (readonly Resource[])[] {
  return [...Map.groupBy(all, (resource) => `${resource.group}/${resource.version}`).values()]
    .map((resources) => resources.filter(({ hasSchema }) => hasSchema))
    .filter((resources) => resources.length > 0)
}

const dialect: Dialect = {
  scalars: {
    ...COMMON_SCALARS,
    Quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    IntOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  },
  reference: (typeName) => ({ allOf: [{ $ref: `#/components/schemas/${typeName}` }] }),
}

/** OpenAPI v3 of the API: an index and one document for each group and version, made when first asked for. */
export class OpenApiV3 {
  readonly #version: string
  readonly #documents = new Map<string, string>()
  /** Those that definitions describe, as long as their resources are the same. */
  readonly #custom = new WeakMap<Resource, string>()

  constructor(version: string) {
    this.#version = version
  }

  /** GET /openapi/v3. */
  index(all: readonly Resource[]): object {
    const paths = groupsOf(all).map((resources) => {
      const path = pathOf(resources)
      const document = this.#textOf(resources)
      const hash = createHash('sha256').update(document).digest('hex').slice(0, 32)
      return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }] as const
    })
    return { paths: Object.fromEntries(paths) }
  }

  /** GET /openapi/v3/PATH; undefined when there is no such group. */
  document(path: string, all: readonly Resource[]): string | undefined {
    const found = groupsOf(all).find((resources) => pathOf(resources) === path)
    return found && this.#textOf(found)
  }

  #textOf(resources: readonly Resource[]): string {
    const describe = () => JSON.stringify(this.#describe(resources))
    const [first] = resources
    if (first?.schema === undefined) return this.#documents.getOrInsertComputed(pathOf(resources), describe)
    // Several definitions share a group; what one alone has can be kept.
    return resources.length > 1 ? describe() : this.#custom.getOrInsertComputed(first, describe)
  }

  #describe(resources: readonly Resource[]): SchemaJson {
    return {
      openapi: '3.0.0',
      info: { title: 'Kubernetes', version: this.#version },
      paths: toPaths(resources.flatMap(listOperations), describeOperation),
      components: { schemas: describeTypes(resources, dialect) },
    }
  }
}

function pathOf([first]: readonly Resource[]): string {
  if (first === undefined) return ''
  return first.group === '' ? `api/${first.version}` : `apis/${apiVersionOf(first)}`
}

function describeOperation(operation: Operation): SchemaJson {
  const { resource, parameters, method } = operation
  const schema = { $ref: `#/components/schemas/${resource.typeName}` }
  const body = { content: { 'application/json': { schema } } }
  return {
    ...marksOf(operation),
    ...(parameters.length > 0 && {
      parameters: parameters.map((name) => ({ name, in: 'query', schema: { type: 'string' } })),
    }),
    ...(method === 'post' && { requestBody: body }),
    responses: { 200: { description: 'OK', ...body } },
  }
}
