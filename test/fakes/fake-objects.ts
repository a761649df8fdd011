import type { ObjectReader } from '../../src/api-server/auth/object-reader.ts'
import type { ApiObject } from '../../src/api-server/store/api-object.ts'

/** Objects by resource, as a test writes them down. Name and namespace are in their metadata. */
export type ObjectsByResource = Readonly<Record<string, readonly object[]>>

/** A reader of objects that a test has written down. */
export function createFakeObjects(objects: ObjectsByResource): ObjectReader {
  const all = (resource: string) => (objects[resource] ?? []) as readonly ApiObject[]
  return {
    get: ({ resource, namespace, name }) =>
      all(resource).find(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace),
    list: (resource, namespace) =>
      all(resource).filter(({ metadata }) => namespace === undefined || (metadata.namespace ?? '') === namespace),
  }
}
