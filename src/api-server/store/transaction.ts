import type { ApiObject, StoreKey, StoredObject, StoreEvent } from './api-object.ts'
import type { Statements } from './statements.ts'
import { StoreFullError } from './store-errors.ts'
import type { ValueCodec } from './value-codec.ts'
import { formatExactJson } from '../../base/document/exact-json.ts'

/** Which objects a list is about. */
export interface ListScope {
  readonly resource: string
  /** Undefined: of all namespaces. */
  readonly namespace?: string | undefined
}

/** What one operation sees and changes. All of it is synchronous, so nothing else happens between its reads and writes. */
export interface StoreView {
  get(key: StoreKey): StoredObject | undefined
  list(scope: ListScope): readonly StoredObject[]
  /** Objects with an owner of this UID. */
  ownedBy(uid: string): readonly StoredObject[]
  count(scope: ListScope): number
}

/** The changes of one operation; they are kept all together or not at all. */
export interface StoreTransaction extends StoreView {
  /** Creates or replaces; gives the object with its new version. */
  put(key: StoreKey, object: ApiObject): ApiObject
  /** Removes; gives the last state with the version of the end, or undefined when there was none. */
  remove(key: StoreKey): ApiObject | undefined
}

export interface TransactionDeps {
  readonly statements: Statements
  readonly codec: ValueCodec
  readonly maxBytes: number
}

/** Writes versions into an open transaction of the database. */
export class DatabaseTransaction implements StoreTransaction {
  readonly #deps: TransactionDeps
  readonly #events: StoreEvent[] = []
  #version: number

  constructor(deps: TransactionDeps, version: number) {
    this.#deps = deps
    this.#version = version
  }

  get version(): number {
    return this.#version
  }

  get events(): readonly StoreEvent[] {
    return this.#events
  }

  /** Forgets what came after a mark, when the database was rolled back to it. */
  rollBackTo(mark: { readonly version: number; readonly events: number }): void {
    this.#version = mark.version
    this.#events.length = mark.events
  }

  get(key: StoreKey): StoredObject | undefined {
    const row = this.#deps.statements.get.get(key.resource, key.namespace, key.name)
    return row === undefined ? undefined : this.#deps.codec.toStored(row)
  }

  list(scope: ListScope): readonly StoredObject[] {
    const { statements, codec } = this.#deps
    const rows =
      scope.namespace === undefined
        ? statements.list.all(scope.resource, '', '', null, -1)
        : statements.listOf.all(scope.resource, scope.namespace, '', null, -1)
    return rows.map((row) => codec.toStored(row))
  }

  ownedBy(uid: string): readonly StoredObject[] {
    const { statements, codec } = this.#deps
    return statements.owned.all(` ${uid} `).map((row) => codec.toStored(row))
  }

  count({ resource, namespace = null }: { resource: string; namespace?: string | null | undefined }): number {
    return this.#deps.statements.count.get(resource, namespace, namespace)?.count ?? 0
  }

  put(key: StoreKey, object: ApiObject): ApiObject {
    const { statements, codec, maxBytes } = this.#deps
    const bytes = statements.pages.get()?.bytes ?? 0
    if (bytes > maxBytes) throw new StoreFullError(bytes, maxBytes)
    const before = this.get(key)
    const version = ++this.#version
    const written = atVersion(object, version)
    const text = formatExactJson(written)
    if (before !== undefined) statements.replace.run(version, before.version)
    const value = codec.encode(key, version, text)
    statements.insert.run(version, key.resource, key.namespace, key.name, null, ownersOf(object), value)
    const type = before === undefined ? 'ADDED' : 'MODIFIED'
    const replacedLength = before?.text.length ?? 0
    this.#events.push({ type, key, version, object: written, text, previous: before?.object, replacedLength })
    return written
  }

  remove(key: StoreKey): ApiObject | undefined {
    const before = this.get(key)
    if (before === undefined) return undefined
    const { statements } = this.#deps
    const version = ++this.#version
    statements.replace.run(version, before.version)
    statements.insert.run(version, key.resource, key.namespace, key.name, version, null, null)
    const object = atVersion(before.object, version)
    this.#events.push({
      type: 'DELETED',
      key,
      version,
      object,
      text: formatExactJson(object),
      previous: before.object,
      replacedLength: before.text.length,
    })
    return object
  }
}

/** The object as it says itself at which version it is. */
export function atVersion(object: ApiObject, version: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }
}

/** The UIDs of the owners, each between spaces, to be found by. */
function ownersOf(object: ApiObject): string | null {
  const owners = object.metadata.ownerReferences ?? []
  return owners.length === 0 ? null : ` ${owners.map(({ uid }) => uid).join(' ')} `
}
