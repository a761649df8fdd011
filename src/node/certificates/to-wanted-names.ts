import { isIP } from 'node:net'
import type { NodeAddress } from '../../model/generated/core-v1.ts'
import type { WantedCertificate } from './wanted-certificate.ts'
import { normalizeName } from '../../protocols/x509/normalize-name.ts'

/** What a node is reached by, as the names of a certificate: each once, sorted. */
export function toWantedNames(addresses: readonly NodeAddress[]): Pick<WantedCertificate, 'dnsNames' | 'addresses'> {
  const dnsNames = new Set<string>()
  const ips = new Set<string>()
  for (const { type, address } of addresses) {
    const isAddress = isIP(address) !== 0
    if (isAddress && !type.endsWith('DNS')) ips.add(normalizeName(address))
    else if (!isAddress && address !== '' && !type.endsWith('IP')) dnsNames.add(normalizeName(address))
  }
  return { dnsNames: [...dnsNames].toSorted(), addresses: [...ips].toSorted() }
}
