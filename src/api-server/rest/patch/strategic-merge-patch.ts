import type { DocumentObject, DocumentValue } from '../../../base/document/document-value.ts'
import { setKey } from '../../../base/document/position-index.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import { apiTypes } from '../../../model/schema/api-types.ts'
import type { SchemaField, ValueType } from '../../../model/schema/object-type.ts'
import { mergeKeyedList, mergePlainList, orderList } from './merge-lists.ts'
import { ownValue } from './own-keys.ts'
import { PatchError } from './patch-error.ts'

const DIRECTIVE = '$patch'
const RETAIN_KEYS = '$retainKeys'
const ORDER_PREFIX = '$setElementOrder/'
const DELETE_PREFIX = '$deleteFromPrimitiveList/'

/** A patch that knows the API types: lists with a key are merged item by item. Throws PatchError. */
export function applyStrategicMergePatch(target: DocumentValue, patch: DocumentValue, typeName: string): DocumentValue {
  if (!isRecord(patch)) throw new PatchError('expected an object', true)
  return mergeMaps(isRecord(target) ? target : {}, patch, { kind: 'object', name: typeName })
}

/** Merges two objects, or maps; a directive may replace the old one or empty it. */
function mergeMaps(target: DocumentObject, patch: DocumentObject, type: ValueType | undefined): DocumentObject {
  const directive = ownValue(patch, DIRECTIVE)
  if (directive === 'delete') return {}
  if (directive !== undefined && directive !== 'replace' && directive !== 'merge') {
    throw new PatchError(`unknown directive in ${DIRECTIVE}, expected delete, merge or replace`, true)
  }
  const result: DocumentObject = directive === 'replace' ? {} : retained(target, patch)
  for (const [key, value] of Object.entries(patch)) {
    if (key === DIRECTIVE || key === RETAIN_KEYS || key.startsWith('$')) continue
    if (value === null) Reflect.deleteProperty(result, key)
    else setKey(result, key, mergeMember(ownValue(result, key), value, { key, patch, type }))
  }
  applyListDirectives({ result, before: target }, patch, type)
  return result
}

/** The keys of the target that the patch lets stay. */
function retained(target: DocumentObject, patch: DocumentObject): DocumentObject {
  const keys = ownValue(patch, RETAIN_KEYS)
  if (keys === undefined) return { ...target }
  if (!Array.isArray(keys)) throw new PatchError(`expected ${RETAIN_KEYS} to be a list`, true)
  return Object.fromEntries(Object.entries(target).filter(([key]) => (keys as readonly unknown[]).includes(key)))
}

interface Member {
  readonly key: string
  /** What it stands in: orders and deletions stand beside it. */
  readonly patch: DocumentObject
  readonly type: ValueType | undefined
}

function mergeMember(target: DocumentValue | undefined, patch: DocumentValue, member: Member): DocumentValue {
  const field = fieldOf(member)
  const type = field?.type ?? valueTypeOf(member.type)
  if (isRecord(patch)) return mergeMaps(isRecord(target) ? target : {}, patch, type)
  if (!Array.isArray(patch) || field?.patch === undefined) return patch
  const old = Array.isArray(target) ? (target as readonly DocumentValue[]) : []
  const { mergeKey } = field.patch
  const items = patch as readonly DocumentValue[]
  if (mergeKey === undefined) return orderList(mergePlainList(old, items), items, undefined, old)
  const itemType = type?.kind === 'list' ? type.of : undefined
  const merged = mergeKeyedList(old, items, mergeKey, (before, after) => mergeMaps(before, after, itemType))
  return orderList(merged, items, mergeKey, old)
}

/** Deletions and the order of lists, which stand beside the lists they are about. */
function applyListDirectives(
  { result, before }: { readonly result: DocumentObject; readonly before: DocumentObject },
  patch: DocumentObject,
  type: ValueType | undefined,
): void {
  for (const [directive, value] of Object.entries(patch)) {
    if (!directive.startsWith(DELETE_PREFIX)) continue
    const key = directive.slice(DELETE_PREFIX.length)
    const list = ownValue(result, key)
    if (!Array.isArray(list) || !Array.isArray(value)) continue
    setKey(
      result,
      key,
      (list as readonly DocumentValue[]).filter((item) => !(value as readonly DocumentValue[]).includes(item)),
    )
  }
  for (const [directive, value] of Object.entries(patch)) {
    if (!directive.startsWith(ORDER_PREFIX)) continue
    const key = directive.slice(ORDER_PREFIX.length)
    const list = ownValue(result, key)
    const rule = fieldOf({ key, patch, type })?.patch
    if (!Array.isArray(list) || !Array.isArray(value) || rule === undefined) continue
    const order = value as readonly DocumentValue[]
    setKey(result, key, orderList(list as readonly DocumentValue[], order, rule.mergeKey, listIn(before, key)))
  }
}

function listIn(object: DocumentObject, key: string): readonly DocumentValue[] {
  const list = ownValue(object, key)
  return Array.isArray(list) ? (list as readonly DocumentValue[]) : []
}

function fieldOf({ key, type }: Pick<Member, 'key' | 'type'> & Partial<Member>): SchemaField | undefined {
  return type?.kind === 'object' ? apiTypes.fieldsOf(type.name).get(key) : undefined
}

function valueTypeOf(type: ValueType | undefined): ValueType | undefined {
  return type?.kind === 'map' ? type.of : undefined
}
