import { generateKeyPair } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { loadX509 } from '../../protocols/x509/load-x509.ts'

/** A new key of a pod with a request that proves possession of it. */
export interface PodKey {
  /** PKCS#8. */
  readonly keyPem: string
  /** PKCS#10 without a name: whose it is, the signer knows from elsewhere. In base64. */
  readonly stubRequest: string
}

interface Keys {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const generate = promisify(generateKeyPair) as unknown as (type: string, options?: object) => Promise<Keys>

const curve = (namedCurve: string, hash: string) => ({
  generate: () => generate('ec', { namedCurve }),
  algorithm: { name: 'ECDSA', namedCurve, hash },
})
const rsa = (modulusLength: number) => ({
  generate: () => generate('rsa', { modulusLength }),
  algorithm: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
})
const TYPES = {
  RSA3072: rsa(3072),
  RSA4096: rsa(4096),
  ECDSAP256: curve('P-256', 'SHA-256'),
  ECDSAP384: curve('P-384', 'SHA-384'),
  ECDSAP521: curve('P-521', 'SHA-512'),
  ED25519: { generate: () => generate('ed25519'), algorithm: { name: 'Ed25519' } },
}

/** Makes a key of one of the types that a podCertificate source may ask for. Large ones take a while, but hold up no other pod. */
export async function createPodKey(keyType: string): Promise<PodKey> {
  if (!Object.hasOwn(TYPES, keyType)) {
    throw new Error(`Cannot make a key of type "${keyType}": expected one of ${Object.keys(TYPES).join(', ')}`)
  }
  const { generate: make, algorithm } = TYPES[keyType as keyof typeof TYPES]
  const { publicKey, privateKey } = await make()
  const x509 = await loadX509()
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    keys: {
      publicKey: publicKey.toCryptoKey(algorithm, true, ['verify']),
      privateKey: privateKey.toCryptoKey(algorithm, true, ['sign']),
    },
    signingAlgorithm: algorithm,
  })
  return {
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    stubRequest: Buffer.from(request.rawData).toString('base64'),
  }
}
