import { sameValue } from '../../base/document/same-value.ts'

/** Whether two statuses say the same; the API does not keep every number that is zero. */
export function sameStatus(a: object | undefined, b: object | undefined): boolean {
  return sameValue(withoutZeros(a), withoutZeros(b))
}

function withoutZeros(status: object | undefined): object {
  return Object.fromEntries(Object.entries(status ?? {}).filter(([, value]) => value !== 0))
}
