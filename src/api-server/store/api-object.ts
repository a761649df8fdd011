import type { ObjectMeta } from '../../model/generated/core-v1.ts'

/** Any object of the API as it is kept and sent: decoded by its schema, shared, so never changed in place. */
export interface ApiObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

/** Names one object. A resource of another group than the core's has its group behind it: "leases.coordination.k8s.io". */
export interface ObjectKey {
  readonly resource: string
  /** Empty for what belongs to no namespace. */
  readonly namespace: string
  readonly name: string
}

/** An object as the store has it. */
export interface StoredObject {
  readonly key: ObjectKey
  /** The version at which it came to be as it is; the text of it is in the object's metadata. */
  readonly version: number
  /** The object as JSON, to be sent as it is. */
  readonly text: string
  readonly object: ApiObject
}

/** One change, as watches tell it. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly key: ObjectKey
  readonly version: number
  /** For DELETED the last state of the object, with the version of its end. */
  readonly object: ApiObject
  readonly text: string
  /** What was there before; undefined for ADDED. */
  readonly previous: ApiObject | undefined
}
