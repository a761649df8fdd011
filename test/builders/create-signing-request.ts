import { generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { loadX509 } from '../../src/protocols/x509/load-x509.ts'

export interface SigningRequestContent {
  readonly commonNames?: readonly string[]
  readonly organizations?: readonly string[]
  /** Asks for the rights of an authority and for all usages. */
  readonly isGreedy?: boolean
  readonly names?: readonly { readonly type: 'dns' | 'ip' | 'email' | 'url'; readonly value: string }[]
}

/** A certificate request in PEM form, and the key that it is for. */
export async function createSigningRequest(
  content: SigningRequestContent,
): Promise<{ readonly pem: string; readonly privateKey: KeyObject }> {
  const x509 = await loadX509()
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { commonNames = ['system:node:node-1'], organizations = ['system:nodes'], names = [] } = content
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [...organizations.map((each) => ({ O: [each] })), ...commonNames.map((each) => ({ CN: [each] }))],
    keys: {
      publicKey: publicKey.toCryptoKey(algorithm, true, ['verify']),
      privateKey: privateKey.toCryptoKey(algorithm, true, ['sign']),
    },
    signingAlgorithm: algorithm,
    extensions: [
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension([...names])]),
      ...(content.isGreedy === true
        ? [
            new x509.BasicConstraintsExtension(true, 9, true),
            new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
            new x509.ExtendedKeyUsageExtension(['2.5.29.37.0', '1.3.6.1.5.5.7.3.1'], true),
          ]
        : []),
    ],
  })
  return { pem: request.toString('pem'), privateKey }
}
