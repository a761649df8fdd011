import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/** A certificate with the key that belongs to it. */
export interface KeyedCertificate {
  readonly certificate: X509Certificate
  /** With the certificates of those who vouch for it, if they were there. */
  readonly certificatePem: string
  readonly key: KeyObject
  readonly keyPem: string
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
const KEY = /-----BEGIN (?:EC |RSA )?PRIVATE KEY-----[^-]+-----END (?:EC |RSA )?PRIVATE KEY-----\n?/

/**
 * Reads a certificate, those that follow it, and its key, from the text of one file or of two. Throws when certificate or key is missing
 * or they do not belong together.
 */
export function parseKeyedCertificate(text: string, keyText = text): KeyedCertificate {
  const certificates = parseCertificates(text)
  const [certificate] = certificates
  const keyPem = KEY.exec(keyText)?.[0]
  if (certificate === undefined) throw new Error('it has no certificate')
  if (keyPem === undefined) throw new Error('it has no private key')
  const key = createPrivateKey(keyPem)
  if (!certificate.checkPrivateKey(key)) throw new Error('its key belongs to another certificate')
  return { certificate, certificatePem: certificates.map(String).join(''), key, keyPem }
}

/** All certificates in a text, in their order. */
export function parseCertificates(text: string): readonly X509Certificate[] {
  return [...text.matchAll(CERTIFICATE)].map(([pem]) => new X509Certificate(pem))
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
