import type { ApiObject, StoreKey } from '../store/api-object.ts'
import type { StoreView } from '../store/transaction.ts'
import type { ObjectIn } from './stored-types.ts'

/** Reads objects as what they are: `get({ resource: 'pods', … })` gives a Pod. */
export interface ObjectReader {
  get<R extends string>(key: StoreKey<R>): ObjectIn<R> | undefined
  /** All of a resource, or those of one namespace. */
  list<R extends string>(resource: R, namespace?: string): readonly ObjectIn<R>[]
}

/** Reads what a store has, or what a transaction is about to make of it. */
export function createObjectReader(view: Pick<StoreView, 'get' | 'list'>): ObjectReader {
  return {
    get: (key) => {
      const stored = view.get(key)
      return stored && asStored(key.resource, stored.object)
    },
    list: (resource, namespace) =>
      view
        .list({ resource, ...(namespace !== undefined && { namespace }) })
        .map(({ object }) => asStored(resource, object)),
  }
}

/** Gives an object its type back: it was decoded by the schema of its kind before it was stored under this name. */
export function asStored<R extends string>(_resource: R, object: ApiObject): ObjectIn<R> {
  return object as ObjectIn<R>
}
