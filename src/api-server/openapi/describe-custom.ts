import type { Resource } from '../kinds/resource.ts'
import type { SchemaJson } from './describe-types.ts'

/** The schema of a custom resource as its definition has it, with what every object has. */
export function describeCustom({ schema = {}, group, version, kind }: Resource, meta: SchemaJson): SchemaJson {
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { type: 'string', description: 'The group and version of the API that the object is written in.' },
      kind: { type: 'string', description: 'The kind of the object.' },
      metadata: meta,
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
  }
}
