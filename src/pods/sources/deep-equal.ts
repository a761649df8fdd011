/** Equal JSON values; an absent member and an undefined one are the same. Shared parts cost nothing. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, index) => deepEqual(item, right[index]))
  }
  const others = right as Readonly<Record<string, unknown>>
  for (const [key, value] of Object.entries(left)) {
    if (!deepEqual(value, Object.hasOwn(others, key) ? others[key] : undefined)) return false
  }
  return Object.keys(right).every((key) => others[key] === undefined || Object.hasOwn(left, key))
}
