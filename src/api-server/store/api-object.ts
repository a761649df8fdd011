import type { ObjectMeta } from '../../model/generated/core-v1.ts'

/**
 * Any object of the API as it is kept and sent: decoded by its schema, shared, so never changed in place. The store and the verbs
 * know no more of it than this; the rules of a kind know its type.
 */
export interface ApiObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  /** As its kind has them; here they are only passed on and compared. */
  readonly spec?: unknown
  readonly status?: unknown
}

/** An object of a generated type, such as Pod, with the parts that every object of this API has. */
export type ObjectOf<T> = T & ApiObject

/** Names one object. A resource of another group than the core's has its group behind it: "leases.coordination.k8s.io". */
export interface StoreKey<R extends string = string> {
  readonly resource: R
  /** Empty for what belongs to no namespace. */
  readonly namespace: string
  readonly name: string
}

/** An object as the store has it. */
export interface StoredObject {
  readonly key: StoreKey
  /** The version at which it got its present content; the object's metadata has it as text. */
  readonly version: number
  /** The object as JSON, to be sent as it is. */
  readonly text: string
  readonly object: ApiObject
}

/** One change, as watches report it. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly key: StoreKey
  readonly version: number
  /** For DELETED the last state of the object, with the version of its end. */
  readonly object: ApiObject
  readonly text: string
  /** What was there before; undefined for ADDED. */
  readonly previous: ApiObject | undefined
  /** How long the text was that it replaced, of a change that has just been made. */
  readonly replacedLength?: number
}
