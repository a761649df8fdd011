import { isRecord } from '../../base/document/is-record.ts'
import { formatExactJson } from '../../base/document/exact-json.ts'

/** What turns one applied version of an object into the next. */
export interface ApplyPatch {
  /** How the API reads it: "strategic" merges members of lists by their keys, "merge" puts a list in the place of another. */
  readonly kind: 'strategic' | 'merge'
  readonly body: object
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type JsonObject = { readonly [key: string]: Json }

/**
 * All that is wanted now, and null for what was wanted before and is not any more. A strategic merge patch keeps the members of lists that
 * others added, but takes none away: where one is gone, or only a field of it, the whole list has to be written.
 */
export function computeApplyPatch(before: object, wanted: object): ApplyPatch {
  const removed = removedFields(before as JsonObject, wanted as JsonObject)
  const kind = keepsLists(before as JsonObject, wanted as JsonObject) ? 'strategic' : 'merge'
  return { kind, body: merge(wanted as JsonObject, removed) }
}

/** Nulls for the fields that are gone, but for those of members of lists. */
function removedFields(before: JsonObject, wanted: JsonObject): JsonObject {
  const removed: Record<string, Json> = {}
  for (const [key, old] of Object.entries(before)) {
    const next = wanted[key]
    if (next === undefined) removed[key] = null
    else if (isRecord(old) && isRecord(next)) {
      const inner = removedFields(old, next)
      if (Object.keys(inner).length > 0) removed[key] = inner
    }
  }
  return removed
}

/** Each list that stays has all that it had before. */
function keepsLists(before: JsonObject, wanted: JsonObject): boolean {
  return Object.entries(before).every(([key, old]) => {
    const next = wanted[key]
    if (Array.isArray(old) && Array.isArray(next)) return listKeeps(old, next)
    return !isRecord(old) || !isRecord(next) || keepsLists(old, next)
  })
}

/** Each member of before is there still, with all its fields; members with a name are found by it. */
function listKeeps(before: readonly Json[], wanted: readonly Json[]): boolean {
  return before.every((old) => {
    const name = isRecord(old) ? old['name'] : undefined
    if (!isRecord(old) || name === undefined)
      return wanted.some((next) => formatExactJson(next) === formatExactJson(old))
    const next = wanted.find((one) => isRecord(one) && one['name'] === name)
    if (!isRecord(next)) return false
    return keepsLists(old, next) && Object.keys(removedFields(old, next)).length === 0
  })
}

function merge(wanted: JsonObject, removed: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...wanted }
  for (const [key, value] of Object.entries(removed)) {
    const next = merged[key]
    merged[key] = isRecord(value) && isRecord(next) ? merge(next, value) : value
  }
  return merged
}
