import type { RequestUser, Resource, RuleContext } from '../kinds/resource.ts'
import type { ServiceRange } from '../kinds/rules/service-range.ts'
import type { ApiObject, ObjectKey, StoredObject } from '../store/api-object.ts'
import type { StoreTransaction, StoreView } from '../store/transaction.ts'

/** What a change of objects depends on besides the objects. */
export interface ChangeInfo {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The node that pods without one are bound to. */
  readonly nodeName: string
  readonly user: RequestUser
  /** Where services get their addresses from. */
  readonly serviceRange: ServiceRange
  readonly newUid: () => string
  /** The end of a name that the server makes up. */
  readonly nameSuffix: () => string
}

/** An object that came, changed or went. */
export interface Change {
  readonly key: ObjectKey
  readonly before: ApiObject | undefined
  /** Undefined when it is gone. */
  readonly after: ApiObject | undefined
}

/** The changes of one request: it writes them, and remembers them for what has to follow in the same transaction. */
export class ChangeSet {
  readonly info: ChangeInfo
  readonly #transaction: StoreTransaction
  readonly #changes: Change[] = []

  constructor(transaction: StoreTransaction, info: ChangeInfo) {
    this.#transaction = transaction
    this.info = info
  }

  get view(): StoreView {
    return this.#transaction
  }

  get(key: ObjectKey): StoredObject | undefined {
    return this.#transaction.get(key)
  }

  get ruleContext(): RuleContext {
    const { now, newUid: _, ...info } = this.info
    return { ...info, now: formatTime(now), view: this.#transaction }
  }

  /** Writes an object; one that only waited for its last finalizer is removed instead. */
  put(key: ObjectKey, object: ApiObject): ApiObject {
    if (isReadyToGo(object)) return this.remove(key) ?? object
    const before = this.#transaction.get(key)?.object
    const after = this.#transaction.put(key, object)
    this.#changes.push({ key, before, after })
    return after
  }

  /** Takes an object away; gives its last state. */
  remove(key: ObjectKey): ApiObject | undefined {
    const before = this.#transaction.get(key)?.object
    const last = this.#transaction.remove(key)
    if (last !== undefined) this.#changes.push({ key, before, after: undefined })
    return last
  }

  /** The changes that nothing has followed from yet. */
  get pending(): readonly Change[] {
    return this.#changes
  }

  /** The oldest change that nothing has followed from yet. */
  takeChange(): Change | undefined {
    return this.#changes.shift()
  }
}

/** A time as the API writes it, in whole seconds. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** Where an object of a resource is stored. */
export function keyOf(resource: Resource, { metadata }: Pick<ApiObject, 'metadata'>): ObjectKey {
  const { namespace = '', name = '' } = metadata
  return { resource: resource.storage, namespace: resource.isNamespaced ? namespace : '', name }
}

/** How refusals name an object. */
export function namedIn(resource: Resource, name: string) {
  return { group: resource.group, resource: resource.plural, kind: resource.kind, name }
}

/** Marked for deletion, with nothing that holds it. A namespace is held by what is in it. */
function isReadyToGo({ metadata, kind }: ApiObject): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    (metadata.finalizers?.length ?? 0) === 0 &&
    (metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
    kind !== 'Namespace'
  )
}
