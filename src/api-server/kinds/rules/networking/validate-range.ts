import type { FieldPath } from '../../../../model/schema/field-path.ts'
import { ipAddress } from '../../../../model/schema/validation/name-rules.ts'
import type { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import { parseCidr, parseIp } from '../../../../model/text/ip-number.ts'

// Numbers with zeros before them: some programs read them as octal.
const PADDED = /(?:^|\.)0\d[^:]*\/|\/0\d/

/** A range of addresses, as "10.9.8.0/24"; its address has to be the first one of it. */
export function validateRange(path: FieldPath, range: string, problems: ProblemList): void {
  const cidr = parseCidr(range)
  const [address = ''] = range.split('/')
  if (PADDED.test(range) && parseCidr(withoutPadding(range)) !== undefined)
    problems.invalid(path, range, 'must not have leading 0s in IP or prefix length')
  else if (cidr === undefined)
    problems.invalid(path, range, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')
  else if (ipAddress(address) !== undefined) problems.invalid(path, range, 'must not have an IPv4-mapped IPv6 address')
  else if (parseIp(address)?.value !== cidr.base.value)
    problems.invalid(path, range, 'must not have bits set beyond the prefix length')
}

function withoutPadding(range: string): string {
  return range.replaceAll(/(?<=^|[./])0+(?=\d)/g, '')
}
