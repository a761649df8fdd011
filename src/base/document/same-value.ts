/** Whether two values of JSON say the same; a field that is undefined is as good as absent, and the order of fields is free. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, index) => sameValue(item, b[index]))
  }
  const left = Object.entries(a).filter(([, value]) => value !== undefined)
  const right = new Map(Object.entries(b).filter(([, value]) => value !== undefined))
  return left.length === right.size && left.every(([key, value]) => right.has(key) && sameValue(value, right.get(key)))
}
