import { asStored } from '../../src/api-server/kinds/object-reader.ts'
import type { ObjectReader } from '../../src/api-server/kinds/object-reader.ts'
import type { ApiObject } from '../../src/api-server/store/api-object.ts'

/** Objects by resource, as a test writes them down. Name and namespace are in their metadata. */
export type ObjectsByResource = Readonly<Record<string, readonly object[]>>

/** A reader of objects that a test has written down. */
export function createFakeObjects(objects: ObjectsByResource): ObjectReader {
  const all = (resource: string) => (objects[resource] ?? []) as readonly ApiObject[]
  return {
    get: ({ resource, namespace, name }) => {
      const isNamed = ({ metadata }: ApiObject) => metadata.name === name && (metadata.namespace ?? '') === namespace
      const found = all(resource).find(isNamed)
      return found && asStored(resource, found)
    },
    list: (resource, namespace) =>
      all(resource)
        .filter(({ metadata }) => namespace === undefined || (metadata.namespace ?? '') === namespace)
        .map((object) => asStored(resource, object)),
  }
}
