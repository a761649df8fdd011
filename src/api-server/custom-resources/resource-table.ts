import type { CustomResourceDefinition } from '../../model/generated/api-groups.ts'
import { allResources, findResource, resourceOfStorage } from '../kinds/all-resources.ts'
import { createObjectReader } from '../kinds/object-reader.ts'
import type { Resource } from '../kinds/resource.ts'
import type { ObjectOf } from '../store/api-object.ts'
import type { ApiStore } from '../store/api-store.ts'
import { toResource } from './custom-resource.ts'
import { isServed } from './compute-definition-status.ts'

export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'

/** All resources that there are at the moment: the built-in ones, and those of definitions. */
export interface ResourceTable {
  readonly all: readonly Resource[]
  find(group: string, version: string, plural: string): Resource | undefined
  /** The resource whose form is stored under a name. */
  ofStorage(storage: string): Resource | undefined
  /** Aborts when a custom resource is not any more what it was, so that its watches end and clients list again. */
  endOf(resource: Resource): AbortSignal | undefined
}

interface Served {
  /** What the resources were made from: they are made again when it changes. */
  readonly text: string
  readonly versions: readonly Resource[]
  readonly stored: Resource | undefined
  readonly ending: AbortController
}

/** The resources of a store. They are read after each change of a definition, never inside of a transaction, which may yet be undone. */
export function createResourceTable(store: Pick<ApiStore, 'get' | 'list' | 'onChange'>): ResourceTable {
  const objects = createObjectReader(store)
  let served: ReadonlyMap<string, Served> = new Map()
  let all = allResources
  const read = (): void => {
    const definitions = objects.list(DEFINITIONS).filter(isServed)
    const before = served
    served = new Map(definitions.map((each) => [storageOf(each), reuse(before.get(storageOf(each)), each)]))
    all = [...allResources, ...[...served.values()].flatMap(({ versions }) => versions)]
    for (const [storage, old] of before) {
      if (served.get(storage) !== old) old.ending.abort(new Error('The definition of the resource has changed'))
    }
  }
  read()
  store.onChange(DEFINITIONS, read)
  const customOf = (storage: string) => served.get(storage)
  return {
    get all() {
      return all
    },
    find: (group, version, plural) =>
      findResource(group, version, plural) ??
      customOf(`${plural}.${group}`)?.versions.find((each) => each.version === version),
    ofStorage: (storage) => resourceOfStorage(storage) ?? customOf(storage)?.stored,
    endOf: ({ storage }) => customOf(storage)?.ending.signal,
  }
}

function storageOf({ spec }: ObjectOf<CustomResourceDefinition>): string {
  return `${spec.names.plural}.${spec.group}`
}

function reuse(before: Served | undefined, definition: ObjectOf<CustomResourceDefinition>): Served {
  const { uid, deletionTimestamp } = definition.metadata
  const text = JSON.stringify([uid, deletionTimestamp, definition.spec, definition.status?.acceptedNames])
  if (before?.text === text) return before
  const { versions } = definition.spec
  const storage = versions.find((each) => each.storage)
  const made = versions.filter((each) => each.served).map((version) => toResource(definition, version))
  const stored = made.find(({ version }) => version === storage?.name) ?? (storage && toResource(definition, storage))
  return { text, versions: made, stored, ending: new AbortController() }
}
