import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { Secret } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { certificateNames } from './compute-certificates.ts'
import type { CertificateUse } from './compute-certificates.ts'
import type { IngressProblem } from './ingress-route.ts'
import { createKeys, toKeyPem } from '../../../protocols/x509/certificate-files.ts'
import { issueAuthority, issueCertificate } from '../../../protocols/x509/issue-certificate.ts'

const LIFETIME_MS = 10 * 365 * 24 * 3_600_000
const COMMON_NAME = 'Deckhand ingress without a certificate'

/** A certificate with its key, in PEM form. */
export interface PemPair {
  readonly cert: string
  readonly key: string
}

interface Entry {
  readonly version: string
  readonly pair: PemPair | undefined
  readonly context: SecureContext | undefined
  readonly why: string
}

/** The certificates that clients get, by the name they ask for. */
export class CertificateTable {
  readonly #fallbackPair: PemPair
  readonly #fallback: SecureContext
  readonly #entries = new Map<string, Entry>()
  #contexts: ReadonlyMap<string, SecureContext> = new Map()
  #defaultPair: PemPair

  /** The fallback is for names that have none, and for those whose secret is of no use. */
  constructor(fallback: PemPair) {
    this.#fallbackPair = fallback
    this.#defaultPair = fallback
    this.#fallback = createSecureContext(fallback)
  }

  /** For clients that name no host. */
  get defaultPair(): PemPair {
    return this.#defaultPair
  }

  /** From now on these. Returns what is wrong with which, which harms no other. */
  use(
    uses: ReadonlyMap<string, CertificateUse>,
    find: (namespace: string, name: string) => Live<Secret> | undefined,
  ): readonly IngressProblem[] {
    const problems: IngressProblem[] = []
    const contexts = new Map<string, SecureContext>()
    const used = new Set<string>()
    let defaultPair = this.#fallbackPair
    for (const [host, { ingress, namespace, secretName }] of uses) {
      const key = `${namespace}/${secretName}`
      used.add(key)
      const { pair, context, why } = this.#read(key, find(namespace, secretName))
      contexts.set(host, context ?? this.#fallback)
      if (host === '' && pair !== undefined) defaultPair = pair
      if (context !== undefined) continue
      const message = `${host === '' ? 'all hosts' : host}: a certificate of no authority is used: ${why}`
      problems.push({ ingress, reason: 'BadCertificate', message })
    }
    for (const key of this.#entries.keys()) if (!used.has(key)) this.#entries.delete(key)
    this.#contexts = contexts
    this.#defaultPair = defaultPair
    return problems
  }

  /** For a client that asks for a name, which is empty when it asks for none. */
  find(serverName: string): SecureContext {
    for (const name of certificateNames(serverName)) {
      const context = this.#contexts.get(name)
      if (context !== undefined) return context
    }
    return this.#fallback
  }

  #read(key: string, secret: Live<Secret> | undefined): Entry {
    if (secret === undefined) {
      this.#entries.delete(key)
      return { ...bad(`there is no secret ${key} of the type kubernetes.io/tls`), version: '' }
    }
    const version = `${secret.metadata.uid} ${secret.metadata.resourceVersion}`
    const known = this.#entries.get(key)
    if (known?.version === version) return known
    const entry = { version, ...toContext(key, secret) }
    this.#entries.set(key, entry)
    return entry
  }
}

function toContext(key: string, { data = {} }: Live<Secret>): Omit<Entry, 'version'> {
  const [cert, privateKey] = ['tls.crt', 'tls.key'].map((name) => Buffer.from(data[name] ?? '', 'base64').toString())
  if (!cert || !privateKey) return bad(`the secret ${key} lacks tls.crt or tls.key`)
  const pair = { cert, key: privateKey }
  try {
    return { pair, context: createSecureContext(pair), why: '' }
  } catch (error) {
    return bad(`the secret ${key} has no certificate with its key: ${errorMessage(error)}`)
  }
}

function bad(why: string): Omit<Entry, 'version'> {
  return { pair: undefined, context: undefined, why }
}

/** A certificate that no client trusts: clients of a host without one learn that, and those of others are not disturbed. */
export async function createFallbackCertificate(now: number): Promise<PemPair> {
  const signer = createKeys()
  const { publicKey, privateKey } = createKeys()
  const content = { commonName: COMMON_NAME, lifetimeMs: LIFETIME_MS }
  const pem = await issueAuthority(signer, content, now)
  const authority = { certificate: new X509Certificate(pem), pem, key: signer.privateKey }
  const names = ['ingress.invalid']
  const cert = await issueCertificate(
    authority,
    { ...content, organizations: [], publicKey, names, usages: ['server'] },
    now,
  )
  return { cert, key: toKeyPem(privateKey) }
}
