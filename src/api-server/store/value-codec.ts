import type { ApiObject, StoreKey, StoredObject } from './api-object.ts'
import type { ValueSeal } from './seal-values.ts'
import type { VersionRow } from './statements.ts'
import { parseExactJson } from '../../base/document/exact-json.ts'

/** Turns objects into values of the database and back; those of sealed resources are encrypted. */
export class ValueCodec {
  readonly #seal: ValueSeal
  readonly #sealed: ReadonlySet<string>

  constructor(seal: ValueSeal, sealedResources: readonly string[]) {
    this.#seal = seal
    this.#sealed = new Set(sealedResources)
  }

  isSealed(resource: string): boolean {
    return this.#sealed.has(resource)
  }

  encode(key: StoreKey, version: number, text: string): string | Uint8Array {
    return this.isSealed(key.resource) ? this.#seal.seal(text, placeOf(key, version)) : text
  }

  decode(key: StoreKey, version: number, value: string | Uint8Array | null): string {
    if (typeof value === 'string') return value
    return value === null ? '' : this.#seal.open(value, placeOf(key, version))
  }

  toStored(row: VersionRow): StoredObject {
    const key = { resource: row.resource, namespace: row.namespace, name: row.name }
    return new LazyObject(key, row.version, this.decode(key, row.version, row.value))
  }
}

/** An object whose text is parsed only when its fields are read: lists are mostly sent as they are. */
class LazyObject implements StoredObject {
  readonly key: StoreKey
  readonly version: number
  readonly text: string
  #object: ApiObject | undefined

  constructor(key: StoreKey, version: number, text: string) {
    this.key = key
    this.version = version
    this.text = text
  }

  get object(): ApiObject {
    this.#object ??= parseExactJson(this.text) as ApiObject
    return this.#object
  }
}

function placeOf(key: StoreKey, version: number): string {
  return `${key.resource}/${key.namespace}/${key.name}@${version}`
}
