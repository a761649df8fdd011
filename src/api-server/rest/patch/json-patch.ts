import type { DocumentObject, DocumentValue } from '../../../base/document/document-value.ts'
import { setKey } from '../../../base/document/position-index.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import { sameValue } from '../../../base/document/same-value.ts'
import { ownValue } from './own-keys.ts'
import { PatchError } from './patch-error.ts'
import { formatExactJson } from '../../../base/document/exact-json.ts'

const MAX_OPERATIONS = 10_000
// Copies of copies double; this is what all of them together may have.
const MAX_COPIED_CHARACTERS = 3 * 1024 * 1024

/** RFC 6902: a list of operations, all or none. Throws PatchError. */
export function applyJsonPatch(target: DocumentValue, patch: DocumentValue): DocumentValue {
  if (!Array.isArray(patch)) throw new PatchError('expected a list of operations', true)
  if (patch.length > MAX_OPERATIONS) {
    throw new PatchError(`the patch has ${patch.length} operations, expected at most ${MAX_OPERATIONS}`, true)
  }
  // A copy of its own is changed in place: thousands of operations on a large object would take too long otherwise.
  const draft = new Draft(structuredClone(target))
  for (const operation of patch as readonly DocumentValue[]) {
    if (!isRecord(operation)) throw new PatchError('expected each operation to be an object', true)
    draft.apply(operation)
  }
  return draft.value
}

class Draft {
  value: DocumentValue
  #copied = 0

  constructor(value: DocumentValue) {
    this.value = value
  }

  apply(operation: DocumentObject): void {
    const path = readPointer(operation, 'path')
    switch (ownValue(operation, 'op')) {
      case 'add':
        return this.#add(path, readValue(operation))
      case 'replace':
        this.#read(path)
        return this.#replace(path, readValue(operation))
      case 'remove':
        return this.#remove(path)
      case 'test':
        if (sameValue(this.#read(path), readValue(operation))) return
        throw new PatchError(`testing value ${formatPointer(path)} failed`)
      case 'copy':
        return this.#add(path, this.#copyOf(this.#read(readPointer(operation, 'from'))))
      case 'move': {
        const from = readPointer(operation, 'from')
        const value = this.#read(from)
        if (formatPointer(path).startsWith(`${formatPointer(from)}/`)) {
          throw new PatchError('a value cannot be moved into itself', true)
        }
        this.#remove(from)
        return this.#add(path, value)
      }
      default:
        throw new PatchError('unknown operation, expected add, remove, replace, move, copy or test', true)
    }
  }

  #copyOf(value: DocumentValue): DocumentValue {
    this.#copied += formatExactJson(value).length
    if (this.#copied > MAX_COPIED_CHARACTERS) throw new PatchError('the patch copies too much', true)
    return structuredClone(value)
  }

  #read(path: readonly string[]): DocumentValue {
    let value: DocumentValue | undefined = this.value
    for (const key of path) {
      if (Array.isArray(value)) value = (value as readonly DocumentValue[])[indexIn(value, key, 0)]
      else value = isRecord(value) ? ownValue(value, key) : undefined
    }
    if (value === undefined) throw new PatchError(`the path ${formatPointer(path)} is not there`)
    return value
  }

  #add(path: readonly string[], value: DocumentValue): void {
    this.#at(path, value, (list, key) => list.splice(indexIn(list, key, 1), 0, value))
  }

  #replace(path: readonly string[], value: DocumentValue): void {
    this.#at(path, value, (list, key) => (list[indexIn(list, key, 0)] = value))
  }

  #remove(path: readonly string[]): void {
    this.#read(path)
    const key = path.at(-1)
    if (key === undefined) throw new PatchError('the whole object cannot be removed')
    const parent = this.#read(path.slice(0, -1))
    if (Array.isArray(parent)) parent.splice(indexIn(parent, key, 0), 1)
    else Reflect.deleteProperty(parent as object, key)
  }

  /** Sets a key of an object, or does something to a list, where the path ends. */
  #at(path: readonly string[], value: DocumentValue, change: (list: DocumentValue[], key: string) => void): void {
    const key = path.at(-1)
    if (key === undefined) {
      this.value = value
      return
    }
    const parent = this.#read(path.slice(0, -1))
    if (Array.isArray(parent)) change(parent as DocumentValue[], key)
    else if (isRecord(parent)) setKey(parent, key, value)
    else throw new PatchError(`the path ${formatPointer(path)} is not there`)
  }
}

function readValue(operation: DocumentObject): DocumentValue {
  const value = ownValue(operation, 'value')
  if (value === undefined) throw new PatchError('the operation has no value', true)
  return value
}

function readPointer(operation: DocumentObject, name: 'path' | 'from'): readonly string[] {
  const text = ownValue(operation, name)
  if (typeof text !== 'string' || (text !== '' && !text.startsWith('/'))) {
    throw new PatchError(`expected "${name}" to be a path such as /metadata/labels/a`, true)
  }
  return text
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function formatPointer(path: readonly string[]): string {
  return `/${path.join('/').slice(0, 200)}`
}

function indexIn(list: readonly unknown[], key: string, beyond: 0 | 1): number {
  const index = beyond === 1 && key === '-' ? list.length : /^(?:0|[1-9]\d{0,8})$/.test(key) ? Number(key) : -1
  if (index < 0 || index >= list.length + beyond) {
    throw new PatchError(`the index ${key.slice(0, 50)} is not in the list`)
  }
  return index
}
