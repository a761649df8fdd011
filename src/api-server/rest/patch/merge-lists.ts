import type { DocumentObject, DocumentValue } from '../../../base/document/document-value.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import { ownValue, withoutKey } from './own-keys.ts'
import { PatchError } from './patch-error.ts'

const DIRECTIVE = '$patch'

/** Plain values: what the patch has and the list has not is added. */
export function mergePlainList(
  target: readonly DocumentValue[],
  patch: readonly DocumentValue[],
): readonly DocumentValue[] {
  return [...new Set([...target, ...patch])]
}

/** Objects with a key: equal keys are merged, new ones added, those with a delete directive taken away. */
export function mergeKeyedList(
  target: readonly DocumentValue[],
  patch: readonly DocumentValue[],
  mergeKey: string,
  merge: (before: DocumentObject, after: DocumentObject) => DocumentObject,
): readonly DocumentValue[] {
  const items = patch.map((item) => {
    if (!isRecord(item))
      throw new PatchError(`expected the items of a list with the key "${mergeKey}" to be objects`, true)
    return item
  })
  const isReplacing = items.some((item) => ownValue(item, DIRECTIVE) === 'replace')
  if (isReplacing) {
    return items
      .filter((item) => !(ownValue(item, DIRECTIVE) === 'replace' && Object.keys(item).length === 1))
      .map((item) => merge({}, withoutKey(item, DIRECTIVE)))
  }
  const result = new KeyedItems(target, mergeKey)
  for (const item of items) {
    const key = ownValue(item, mergeKey)
    if (key === undefined)
      throw new PatchError(`an item of the patch has no "${mergeKey}", by which it is merged`, true)
    if (ownValue(item, DIRECTIVE) === 'delete') result.delete(key)
    else result.set(key, merge(result.get(key) ?? {}, item))
  }
  return result.list
}

/** A list whose items are found by key; lists of a request can be long. */
class KeyedItems {
  readonly #items: (DocumentValue | undefined)[]
  readonly #places = new Map<DocumentValue | undefined, number>()

  constructor(items: readonly DocumentValue[], mergeKey: string) {
    this.#items = [...items]
    for (const [index, item] of items.entries()) {
      const key = isRecord(item) ? ownValue(item, mergeKey) : undefined
      if (key !== undefined && !this.#places.has(key)) this.#places.set(key, index)
    }
  }

  get list(): readonly DocumentValue[] {
    return this.#items.filter((item) => item !== undefined)
  }

  get(key: DocumentValue): DocumentObject | undefined {
    const item = this.#items[this.#places.get(key) ?? -1]
    return isRecord(item) ? item : undefined
  }

  set(key: DocumentValue, item: DocumentValue): void {
    const place = this.#places.get(key) ?? this.#items.length
    this.#places.set(key, place)
    this.#items[place] = item
  }

  delete(key: DocumentValue): void {
    const place = this.#places.get(key)
    if (place === undefined) return
    this.#items[place] = undefined
    this.#places.delete(key)
  }
}

/**
 * Puts a merged list into the order that the patch wants. Items that the patch does not know keep their place relative to those
 * they stood between.
 */
export function orderList(
  list: readonly DocumentValue[],
  order: readonly DocumentValue[],
  mergeKey: string | undefined,
  before: readonly DocumentValue[],
): readonly DocumentValue[] {
  const keyOf = (item: DocumentValue) =>
    mergeKey === undefined ? item : isRecord(item) ? ownValue(item, mergeKey) : undefined
  const rank = new Map(order.map((item, index) => [keyOf(item), index]))
  const rankOf = (item: DocumentValue) => rank.get(keyOf(item))
  const known = list.filter((item) => rankOf(item) !== undefined).sort((a, b) => (rankOf(a) ?? 0) - (rankOf(b) ?? 0))
  const unknown = list.filter((item) => rankOf(item) === undefined)
  // What the patch brings has no place yet, so nothing stands before it.
  const places = new Map(before.map((item, index) => [keyOf(item), index]))
  const placeOf = (item: DocumentValue | undefined) => places.get(keyOf(item ?? null)) ?? -1
  const result: DocumentValue[] = []
  let next = 0
  for (const item of known) {
    for (; next < unknown.length && placeOf(unknown[next]) < placeOf(item); next++) result.push(unknown[next] ?? null)
    result.push(item)
  }
  return [...result, ...unknown.slice(next)]
}
