import { isJsonObject, type Json, type JsonObject } from './json-value.ts'

/** JSON merge patch (RFC 7386): objects merge key by key, null removes, anything else replaces. */
export function mergePatch(target: Json | undefined, patch: JsonObject): JsonObject {
  const result = new Map(isJsonObject(target) ? target : [])
  for (const [key, value] of patch) {
    if (value === null) result.delete(key)
    else result.set(key, isJsonObject(value) ? mergePatch(result.get(key), value) : value)
  }
  return result
}
