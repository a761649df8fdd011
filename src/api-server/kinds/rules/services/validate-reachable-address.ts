import type { FieldPath } from '../../../../model/schema/field-path.ts'
import { ipAddress } from '../../../../model/schema/validation/name-rules.ts'
import type { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import { formatIp, parseIp } from '../../../../model/text/ip-number.ts'

/** An address to which packets can be sent from elsewhere. */
export function validateReachableAddress(path: FieldPath, address: string, problems: ProblemList): void {
  const ip = parseIp(address)
  if (ip === undefined) return problems.name(path, address, ipAddress)
  const text = formatIp(ip)
  if (text === '0.0.0.0' || text === '::') problems.invalid(path, address, `may not be unspecified (${text})`)
  if (/^127\.|^::1$/.test(text))
    problems.invalid(path, address, 'may not be in the loopback range (127.0.0.0/8, ::1/128)')
  if (/^169\.254\.|^fe[89ab]/.test(text))
    problems.invalid(path, address, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  if (/^224\.0\.0\.|^ff.2:/.test(text))
    problems.invalid(path, address, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
}
