import { isRecord } from '../../../base/document/is-record.ts'
import { sameValue } from '../../../base/document/same-value.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * What has to be sent as a JSON merge patch to make the second of the first. Only what a person changed is in it, so that what the node writes meanwhile
 * neither hinders it nor is overwritten; a list is replaced whole.
 */
export function computeMergePatch(before: Fields, after: Fields): Fields {
  const gone = Object.keys(before).filter((name) => !(name in after))
  const changed = Object.entries(after).flatMap(([name, value]): [string, unknown][] => {
    const old = before[name]
    if (isRecord(old) && isRecord(value)) {
      const inner = computeMergePatch(old, value)
      return Object.keys(inner).length === 0 ? [] : [[name, inner]]
    }
    return sameValue(old, value) ? [] : [[name, value]]
  })
  return Object.fromEntries([...gone.map((name): [string, unknown] => [name, null]), ...changed])
}

/** The first field that two patches set to different values, such as "spec.replicas". */
export function findConflict(ours: Fields, theirs: Fields): string | undefined {
  for (const [name, value] of Object.entries(ours)) {
    if (!(name in theirs)) continue
    const other = theirs[name]
    if (!isRecord(value) || !isRecord(other)) {
      if (!sameValue(value, other)) return name
      continue
    }
    const inner = findConflict(value, other)
    if (inner !== undefined) return `${name}.${inner}`
  }
  return undefined
}
