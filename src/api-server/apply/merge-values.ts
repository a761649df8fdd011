import type { DocumentObject, DocumentValue } from '../../base/document/document-value.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { setKey } from '../../base/document/position-index.ts'
import { elementOf } from './list-items.ts'
import { memberSchema, resolveSchema, wholeValue } from './merge-schema.ts'
import type { ListSchema, MapSchema, MergeSchema } from './merge-schema.ts'

/** The live value with what is applied to it: maps by key, lists by the keys of their items, everything else replaced. */
export function mergeValues(
  live: DocumentValue | undefined,
  applied: DocumentValue | undefined,
  schema: MergeSchema,
): DocumentValue | undefined {
  if (applied === undefined) return live
  if (live === undefined) return applied
  const resolved = resolveSchema(schema, applied)
  if (resolved.kind === 'map' && !resolved.isAtomic && (hasMembers(live) || hasMembers(applied))) {
    return mergeMaps(resolved, toObject(live), toObject(applied))
  }
  if (resolved.kind === 'list' && resolved.relation !== 'atomic') {
    const [old, fresh] = [toList(live), toList(applied)]
    if (old.length > 0 || fresh.length > 0) return mergeLists(resolved, old, fresh)
  }
  return applied
}

function mergeMaps(schema: MapSchema, live: DocumentObject, applied: DocumentObject): DocumentObject {
  const result = {}
  for (const name of new Set([...Object.keys(live), ...Object.keys(applied)])) {
    const inner = memberSchema(schema, name) ?? wholeValue
    const merged = mergeValues(own(live, name), own(applied, name), inner)
    if (merged !== undefined) setKey(result, name, merged)
  }
  return result
}

/** Items that are applied keep their order; those that only the live list has stay before the next item that both have. */
function mergeLists(
  schema: ListSchema,
  live: readonly DocumentValue[],
  applied: readonly DocumentValue[],
): readonly DocumentValue[] {
  const freshKeys = applied.map((item) => elementOf(schema, item))
  const oldKeys = live.map((item) => elementOf(schema, item))
  const fresh = new Map(freshKeys.map((key, index) => [key, applied[index]]))
  // Live items that share their keys are not merged.
  const old = new Map([...Map.groupBy(live, (_, index) => oldKeys[index] ?? '')].map(([key, items]) => [key, items]))
  const shared = freshKeys.filter((key) => old.has(key))
  const merged = new Set<string>()
  const result: DocumentValue[] = []
  const takeApplied = (key: string) => {
    const same = old.get(key) ?? []
    const item = mergeValues(same.length === 1 ? same[0] : undefined, fresh.get(key), schema.items)
    if (item !== undefined) result.push(item)
    merged.add(key)
    if (shared[0] === key) shared.shift()
  }
  let [left, right] = [0, 0]
  while (left < oldKeys.length || right < freshKeys.length) {
    const leftKey = oldKeys[left]
    const rightKey = freshKeys[right]
    if (leftKey !== undefined && leftKey === rightKey) {
      takeApplied(leftKey)
      left++
      right++
    } else if (leftKey !== undefined && !fresh.has(leftKey)) {
      result.push(live[left] ?? null)
      left++
    } else if (leftKey !== undefined && rightKey !== undefined && shared[0] !== undefined && shared[0] !== leftKey) {
      // It comes where the applied list has it.
      left++
    } else {
      if (leftKey !== undefined && merged.has(leftKey)) left++
      if (rightKey === undefined) continue
      takeApplied(rightKey)
      right++
    }
  }
  return result
}

function hasMembers(value: DocumentValue): boolean {
  return isRecord(value) && Object.keys(value).length > 0
}

function own(object: DocumentObject, name: string): DocumentValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

function toObject(value: DocumentValue): DocumentObject {
  return isRecord(value) ? value : {}
}

function toList(value: DocumentValue): readonly DocumentValue[] {
  return Array.isArray(value) ? (value as readonly DocumentValue[]) : []
}
