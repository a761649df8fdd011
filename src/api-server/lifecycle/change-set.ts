import { asStored, createObjectReader } from '../kinds/object-reader.ts'
import type { ResourceTable } from '../custom-resources/resource-table.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import type { RequestUser, Resource, RequestContext } from '../kinds/resource.ts'
import type { ServiceRange } from '../kinds/rules/services/service-range.ts'
import type { ObjectIn } from '../kinds/stored-types.ts'
import type { ApiObject, StoreKey, StoredObject } from '../store/api-object.ts'
import type { StoreTransaction, StoreView } from '../store/transaction.ts'
import type { FieldWriter } from '../apply/track-fields.ts'
import { toApiTime } from '../../model/text/api-time.ts'

/** What a change of objects depends on besides the objects. */
export interface ChangeInfo {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The node that pods without one are bound to at once; undefined where a scheduler does that. */
  readonly nodeName: string | undefined
  readonly user: RequestUser
  /** Who owns the fields that are changed; undefined for what the server changes by itself, which has no manager. */
  readonly fieldManager?: string | undefined
  /** Where services get their addresses from. */
  readonly serviceRanges: readonly ServiceRange[]
  /** All resources that there are. */
  readonly resources: ResourceTable
  readonly newUid: () => string
  /** The end of a name that the server makes up. */
  readonly nameSuffix: () => string
}

/** An object that was created, changed or removed. */
export interface Change<R extends string = string> {
  readonly key: StoreKey<R>
  /** Undefined when it was created. */
  readonly before: ObjectIn<R> | undefined
  /** Undefined when it is gone. */
  readonly after: ObjectIn<R> | undefined
}

/** Whether a change is one of a certain resource, whose type its objects then have. */
export function isChangeOf<R extends string>(change: Change, resource: R): change is Change<R> {
  return change.key.resource === resource
}

/** The changes of one request: it writes them, and remembers them for what has to follow in the same transaction. */
export class ChangeSet {
  readonly info: ChangeInfo
  /** The objects with their types, as the changes so far have made them. */
  readonly objects: ObjectReader
  readonly #transaction: StoreTransaction
  readonly #changes: Change[] = []
  readonly #warnings: string[] = []

  constructor(transaction: StoreTransaction, info: ChangeInfo) {
    this.#transaction = transaction
    this.info = info
    this.objects = createObjectReader(transaction)
  }

  get view(): StoreView {
    return this.#transaction
  }

  get(key: StoreKey): StoredObject | undefined {
    return this.#transaction.get(key)
  }

  get requestContext(): RequestContext {
    const { now, newUid: _, fieldManager: _manager, resources: _resources, ...info } = this.info
    return { ...info, now: toApiTime(now), objects: this.objects }
  }

  /** Who writes, for those fields that have owners; undefined when what is written gets no manager. */
  get fieldWriter(): FieldWriter | undefined {
    const { fieldManager: manager, now } = this.info
    return manager === undefined ? undefined : { manager, now: toApiTime(now) }
  }

  /** Writes an object; one that only waited for its last finalizer is removed instead, and given as it would have been written. */
  put<R extends string>(key: StoreKey<R>, object: ObjectIn<R>): ObjectIn<R> {
    if (isReadyToGo(object)) {
      const resourceVersion = this.remove(key)?.metadata.resourceVersion
      return { ...object, metadata: { ...object.metadata, resourceVersion } }
    }
    const before = this.objects.get(key)
    const after = asStored(key.resource, this.#transaction.put(key, object))
    this.#changes.push({ key, before, after })
    return after
  }

  /** Removes an object; gives its last state. */
  remove<R extends string>(key: StoreKey<R>): ObjectIn<R> | undefined {
    const before = this.objects.get(key)
    const last = this.#transaction.remove(key)
    if (last === undefined) return undefined
    this.#changes.push({ key, before, after: undefined })
    return asStored(key.resource, last)
  }

  /** Advice for the sender of the request. */
  get warnings(): readonly string[] {
    return this.#warnings
  }

  warn(warnings: readonly string[] = []): void {
    this.#warnings.push(...warnings)
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

/** Takes a finalizer from an object that has it, which may remove the object. */
export function removeFinalizer(changes: ChangeSet, key: StoreKey, finalizer: string): void {
  const object = changes.objects.get(key)
  if (!object?.metadata.finalizers?.includes(finalizer)) return
  const finalizers = object.metadata.finalizers.filter((each) => each !== finalizer)
  changes.put(key, { ...object, metadata: { ...object.metadata, finalizers } })
}

/** Where an object of a resource is stored. */
export function storeKeyOf(resource: Resource, { metadata }: Pick<ApiObject, 'metadata'>): StoreKey {
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
