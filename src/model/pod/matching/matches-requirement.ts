/** What a selector asks of one label, or of one field. */
interface Requirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[] | undefined
}

/** True when the labels are as a requirement asks for. One that makes no sense fits nothing, as in upstream's labels.NewRequirement(). */
export function matchesRequirement(
  { key, operator, values = [] }: Requirement,
  labels: ReadonlyMap<string, string>,
): boolean {
  const value = labels.get(key)
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return values.length > 0 && (value === undefined || !values.includes(value))
    case 'Exists':
      return values.length === 0 && value !== undefined
    case 'DoesNotExist':
      return values.length === 0 && value === undefined
    default:
      return false
  }
}
