import { isRecord } from '../../base/document/is-record.ts'
import { formatExactJson } from '../../base/document/exact-json.ts'

/** What turns one applied version of an object into the next, or that only a new object will do. */
export type ApplyPatch = { readonly kind: 'patch'; readonly body: object } | { readonly kind: 'replace' }

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type JsonObject = { readonly [key: string]: Json }

/**
 * A strategic merge patch: all that is wanted now, and null for what was wanted before and is not any more. Members of lists are merged by
 * the API and never go that way, so when one is gone the whole object has to be created again.
 */
export function computeApplyPatch(before: object, wanted: object): ApplyPatch {
  const removed = removedFields(before as JsonObject, wanted as JsonObject)
  return removed === undefined ? { kind: 'replace' } : { kind: 'patch', body: merge(wanted as JsonObject, removed) }
}

/** Nulls for the fields that are gone; undefined when a member of a list is. */
function removedFields(before: JsonObject, wanted: JsonObject): JsonObject | undefined {
  const removed: Record<string, Json> = {}
  for (const [key, old] of Object.entries(before)) {
    const next = wanted[key]
    if (next === undefined) removed[key] = null
    else if (Array.isArray(old) && Array.isArray(next)) {
      if (!listKeeps(old, next)) return undefined
    } else if (isRecord(old) && isRecord(next)) {
      const inner = removedFields(old, next)
      if (inner === undefined) return undefined
      if (Object.keys(inner).length > 0) removed[key] = inner
    }
  }
  return removed
}

/** Each member of before is there still, with all its fields; members with a name are found by it. */
function listKeeps(before: readonly Json[], wanted: readonly Json[]): boolean {
  return before.every((old) => {
    const name = isRecord(old) ? old['name'] : undefined
    if (!isRecord(old) || name === undefined)
      return wanted.some((next) => formatExactJson(next) === formatExactJson(old))
    const next = wanted.find((one) => isRecord(one) && one['name'] === name)
    if (!isRecord(next)) return false
    const removed = removedFields(old, next)
    return removed !== undefined && Object.keys(removed).length === 0
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
