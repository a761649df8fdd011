import { isIP } from 'node:net'
import type { FieldPath } from '../../../model/schema/field-path.ts'
import { canonicalAddress } from '../../../model/schema/validation/name-rules.ts'
import { warningAt } from './warning-at.ts'

/** An address that works, but is not written as it should be; nothing for what is no address. */
export function warnOfAddress(address: string, path: FieldPath): readonly string[] {
  if (isIP(address) !== 6 || address.includes('%')) return []
  const canonical = canonicalAddress(address)
  if (canonical === address) return []
  const quoted = JSON.stringify(address)
  return [warningAt(path, `IPv6 address ${quoted} should be in RFC 5952 canonical format ("${canonical}")`)]
}

/** The same for a range of addresses. */
export function warnOfRange(range: string, path: FieldPath): readonly string[] {
  const [address = '', bits = ''] = range.split('/')
  if (isIP(address) !== 6 || address.includes('%')) return []
  const canonical = `${canonicalAddress(address)}/${bits}`
  if (canonical === range) return []
  const quoted = JSON.stringify(range)
  return [warningAt(path, `IPv6 CIDR value ${quoted} should be in RFC 5952 canonical format ("${canonical}")`)]
}
