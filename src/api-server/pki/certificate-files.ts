import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/** A certificate with the key that belongs to it. */
export interface KeyedCertificate {
  readonly certificate: X509Certificate
  readonly certificatePem: string
  readonly key: KeyObject
  readonly keyPem: string
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/
const KEY = /-----BEGIN (?:EC |RSA )?PRIVATE KEY-----[^-]+-----END (?:EC |RSA )?PRIVATE KEY-----\n?/

/** Reads a certificate and its key from the text of one file. Throws when either is missing or they do not belong together. */
export function parseKeyedCertificate(text: string): KeyedCertificate {
  const certificatePem = CERTIFICATE.exec(text)?.[0]
  const keyPem = KEY.exec(text)?.[0]
  if (certificatePem === undefined) throw new Error('it has no certificate')
  if (keyPem === undefined) throw new Error('it has no private key')
  const certificate = new X509Certificate(certificatePem)
  const key = createPrivateKey(keyPem)
  if (!certificate.checkPrivateKey(key)) throw new Error('its key belongs to another certificate')
  return { certificate, certificatePem, key, keyPem }
}

/** A new key for a certificate or for signing: ECDSA on P-256. */
export function createKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

export function toKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' })
}

/** Reads a private key of the kind that createKeys() makes; throws otherwise. */
export function parseKey(text: string): KeyObject {
  const key = createPrivateKey(text)
  const curve = key.asymmetricKeyDetails?.namedCurve
  if (curve !== 'prime256v1') throw new Error(`it is a key of another kind (${key.asymmetricKeyType ?? 'unknown'})`)
  createPublicKey(key)
  return key
}

/** Whether an authority signed a certificate. */
export function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}
