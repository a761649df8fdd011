import { createHash } from 'node:crypto'
import type { Resource } from '../kinds/resource.ts'
import { apiVersionOf, resourcesByGroup } from '../rest/present.ts'
import { listOperations, marksOf, toPaths } from './describe-paths.ts'
import type { Operation } from './describe-paths.ts'
import { COMMON_SCALARS, describeTypes } from './describe-types.ts'
import type { Dialect, SchemaJson } from './describe-types.ts'

/** One for each group and version. */
const groups = [...resourcesByGroup().values()]
  .flatMap((resources) => [...Map.groupBy(resources, ({ version }) => version).values()])
  .map((resources) => resources.filter(({ hasSchema }) => hasSchema))
  .filter((resources) => resources.length > 0)

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

  constructor(version: string) {
    this.#version = version
  }

  /** GET /openapi/v3. */
  index(): object {
    const paths = groups.map((resources) => {
      const path = pathOf(resources)
      const document = this.document(path) ?? ''
      const hash = createHash('sha256').update(document).digest('hex').slice(0, 32)
      return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }] as const
    })
    return { paths: Object.fromEntries(paths) }
  }

  /** GET /openapi/v3/PATH; undefined when there is no such group. */
  document(path: string): string | undefined {
    const found = groups.find((resources) => pathOf(resources) === path)
    if (found === undefined) return undefined
    return this.#documents.getOrInsertComputed(path, () => JSON.stringify(this.#describe(found)))
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
