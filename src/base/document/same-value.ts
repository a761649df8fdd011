/** Whether two values of JSON are the same; an absent field and an undefined one are, and the order of fields is free. Shared parts cost nothing. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, index) => sameValue(item, b[index]))
  }
  const others = b as Readonly<Record<string, unknown>>
  for (const [key, value] of Object.entries(a)) {
    if (!sameValue(value, Object.hasOwn(others, key) ? others[key] : undefined)) return false
  }
  return Object.keys(b).every((key) => others[key] === undefined || Object.hasOwn(a, key))
}
