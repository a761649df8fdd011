import { createKeys, parseKeyedCertificate, toKeyPem } from '../../src/protocols/x509/certificate-files.ts'
import type { KeyedCertificate } from '../../src/protocols/x509/certificate-files.ts'
import { issueAuthority } from '../../src/protocols/x509/issue-certificate.ts'

/** Some certificate with its key, from five minutes ago until so many milliseconds from now on. */
export async function createCertificate(now: number, lifetimeMs: number): Promise<KeyedCertificate> {
  const keys = createKeys()
  const pem = await issueAuthority(keys, { commonName: 'system:node:node-1', lifetimeMs }, now)
  return parseKeyedCertificate(`${pem}${toKeyPem(keys.privateKey)}`)
}
