import { allResources } from '../kinds/all-resources.ts'
import { listOperations, marksOf, toPaths } from './describe-paths.ts'
import type { Operation } from './describe-paths.ts'
import { COMMON_SCALARS, describeTypes } from './describe-types.ts'
import type { Dialect } from './describe-types.ts'

/** As much of a schema of OpenAPI v2 as we write. */
export interface SchemaV2 {
  readonly $ref?: string
  readonly format?: string
  readonly description?: string
  readonly default?: unknown
  readonly required?: readonly string[]
  readonly additionalProperties?: SchemaV2
  readonly type?: string
  readonly items?: SchemaV2
  readonly properties?: Readonly<Record<string, SchemaV2>>
  readonly [extension: `x-${string}`]: unknown
}

export interface OperationV2 {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly type: string }[]
  readonly responses: Readonly<Record<string, { readonly description: string }>>
  readonly [extension: `x-${string}`]: unknown
}

/** The API in OpenAPI v2, which kubectl before 1.24 needs to check and explain objects. */
export interface DocumentV2 {
  readonly swagger: '2.0'
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationV2>>>>
  readonly definitions: Readonly<Record<string, SchemaV2>>
}

const dialect: Dialect = {
  scalars: {
    ...COMMON_SCALARS,
    Quantity: { type: 'string' },
    IntOrString: { type: 'string', format: 'int-or-string' },
  },
  reference: (typeName) => ({ $ref: `#/definitions/${typeName}` }),
}

/** All groups in one document. */
export function createOpenApiV2(version: string): DocumentV2 {
  const resources = allResources.filter(({ hasSchema }) => hasSchema)
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version },
    paths: toPaths(resources.flatMap(listOperations), describeOperation) as DocumentV2['paths'],
    definitions: describeTypes(resources, dialect),
  }
}

function describeOperation(operation: Operation) {
  return {
    ...marksOf(operation),
    parameters: operation.parameters.map((name) => ({ name, in: 'query', type: 'string' })),
    responses: { 200: { description: 'OK' } },
  }
}
