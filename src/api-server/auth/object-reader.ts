import type { ApiObject, ObjectKey } from '../store/api-object.ts'
import type { StoreView } from '../store/transaction.ts'

/** The objects as they are now, for those who decide about users. */
export interface ObjectReader {
  get(key: ObjectKey): ApiObject | undefined
  /** All of a resource, or those of one namespace. */
  list(resource: string, namespace?: string): readonly ApiObject[]
}

/** Reads what a store has, or what a transaction is about to make of it. */
export function createObjectReader(view: Pick<StoreView, 'get' | 'list'>): ObjectReader {
  return {
    get: (key) => view.get(key)?.object,
    list: (resource, namespace) =>
      view.list({ resource, ...(namespace !== undefined && { namespace }) }).map(({ object }) => object),
  }
}
