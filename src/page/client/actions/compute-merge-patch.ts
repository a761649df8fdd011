type Fields = Readonly<Record<string, unknown>>

/**
 * What has to be sent as a JSON merge patch to make the second of the first. Only what a person changed is in it, so that what the node writes meanwhile
 * neither hinders it nor is overwritten; a list is replaced whole.
 */
export function computeMergePatch(before: Fields, after: Fields): Fields {
  const gone = Object.keys(before).filter((name) => !(name in after))
  const changed = Object.entries(after).flatMap(([name, value]): [string, unknown][] => {
    const old = before[name]
    if (isFields(old) && isFields(value)) {
      const inner = computeMergePatch(old, value)
      return Object.keys(inner).length === 0 ? [] : [[name, inner]]
    }
    return JSON.stringify(old) === JSON.stringify(value) ? [] : [[name, value]]
  })
  return Object.fromEntries([...gone.map((name): [string, unknown] => [name, null]), ...changed])
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
