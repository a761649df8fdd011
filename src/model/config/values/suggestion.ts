import { nearestName } from '../../../base/document/nearest-name.ts'

/** ", did you mean …?" or nothing. */
export function suggestion(name: string, known: Iterable<string>, prefix = ''): string {
  const nearest = nearestName(name, known)
  return nearest === undefined ? '' : `, did you mean ${prefix}${nearest}?`
}
