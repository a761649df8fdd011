/** A decoded document. Objects are maps, so "__proto__" is a key like any other; whole numbers beyond 2^53 are bigint. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject
export type JsonObject = ReadonlyMap<string, Json>

/** True for an object, as opposed to a list or a scalar. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return value instanceof Map
}

/** A copy in plain objects, to print or to hand to JSON.stringify(). */
export function toPlain(value: Json): unknown {
  if (isJsonObject(value)) return Object.fromEntries([...value].map(([key, part]) => [key, toPlain(part)]))
  return Array.isArray(value) ? value.map((part: Json) => toPlain(part)) : value
}
