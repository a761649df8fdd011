import type { ApiObject, ObjectKey } from '../store/api-object.ts'

/** The objects as they are now, for those who decide about users. */
export interface ObjectReader {
  get(key: ObjectKey): ApiObject | undefined
  /** All of a resource, or those of one namespace. */
  list(resource: string, namespace?: string): readonly ApiObject[]
}
