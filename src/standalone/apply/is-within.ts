import { isRecord } from '../../base/document/is-record.ts'

/** Whether an object of the API says all that a file says; what the API has added does not count. Members of lists are found by their name. */
export function isWithin(wanted: unknown, live: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live)) return wanted.length === 0 && live === undefined
    return wanted.every((member: unknown, index) => isWithin(member, counterpart(member, live, index)))
  }
  if (isRecord(wanted)) {
    // What is empty, or null, may as well be absent.
    if (!isRecord(live)) return live === undefined && Object.values(wanted).every((value) => isWithin(value, undefined))
    return Object.entries(wanted).every(([key, value]) => isWithin(value, live[key]))
  }
  if (wanted === null || wanted === undefined) return live === undefined || live === null
  // The API writes some numbers as texts and some texts in another form; what differs only so is sorted out by a patch that changes nothing.
  return wanted === live
}

function counterpart(member: unknown, live: readonly unknown[], index: number): unknown {
  const name = isRecord(member) ? member['name'] : undefined
  return name === undefined ? live[index] : live.find((other) => isRecord(other) && other['name'] === name)
}
