import type { WantedCertificate } from './wanted-certificate.ts'
import { computeBackOff } from '../../base/async/back-off.ts'

/** What is known of a certificate in use, as far as it decides about its end. Times in milliseconds since the epoch. */
export interface CertificateInfo extends WantedCertificate {
  readonly notBefore: number
  readonly notAfter: number
}

// Parity: client-go util/certificate. Nodes that were made at the same time do not ask at the same time.
const FIRST_SHARE = 0.7
const SHARE_RANGE = 0.2

/** When to ask for the next certificate: a chance between 70 and 90 % of the life of this one, drawn once. */
export function computeRotationTime(
  { notBefore, notAfter }: Pick<CertificateInfo, 'notBefore' | 'notAfter'>,
  chance: number,
): number {
  return notBefore + (notAfter - notBefore) * (FIRST_SHARE + SHARE_RANGE * chance)
}

/** What is wanted and missing in a certificate; undefined when nothing is missing. It may have more. */
export function computeLack(info: WantedCertificate, wanted: WantedCertificate): string | undefined {
  const missing = (has: readonly string[], needed: readonly string[]) =>
    needed.filter((each) => !has.includes(each)).join(', ')
  if (info.commonName !== wanted.commonName) return `it is for "${info.commonName}"`
  const organizations = missing(info.organizations, wanted.organizations)
  if (organizations !== '') return `it is not for ${organizations}`
  const names = missing([...info.dnsNames, ...info.addresses], [...wanted.dnsNames, ...wanted.addresses])
  return names === '' ? undefined : `it is not for ${names}`
}

// 2, 4, 8, 16 seconds, then always the same.
const RETRIES = { firstMs: 2000, longestMs: 32_000, jitter: { least: 1, extra: 0.1 } }
const SPREAD_RETRIES = 4

/** How long to wait after so many failures in a row. */
export function computeRetryDelay(failures: number, chance: number): number {
  return computeBackOff(RETRIES, failures, failures > SPREAD_RETRIES ? 0 : chance)
}
