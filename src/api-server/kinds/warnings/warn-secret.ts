import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Secret } from '../../../model/generated/core-v1.ts'

const PEM = /-----BEGIN [A-Z0-9 ]+-----/

/** A certificate for TLS whose key is none, or another's, is found here rather than when nothing can connect. */
export function warnOfSecret({ type, data = {} }: Secret): readonly string[] {
  if (type !== 'kubernetes.io/tls') return []
  const [certificate, key] = ['tls.crt', 'tls.key'].map((name) => Buffer.from(data[name] ?? '', 'base64').toString())
  if (!PEM.test(certificate ?? '')) return ['tls: failed to find any PEM data in certificate input']
  if (!PEM.test(key ?? '')) return ['tls: failed to find any PEM data in key input']
  try {
    const matches = new X509Certificate(certificate ?? '').checkPrivateKey(createPrivateKey(key ?? ''))
    return matches ? [] : ['tls: private key does not match public key']
  } catch {
    return ['tls: failed to parse certificate or private key']
  }
}
