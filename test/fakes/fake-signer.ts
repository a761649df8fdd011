import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { parseSigningRequest } from '../../src/api-server/pki/parse-signing-request.ts'
import type { Clock } from '../../src/base/async/clock.ts'
import { createKeys, parseKeyedCertificate, toKeyPem } from '../../src/protocols/x509/certificate-files.ts'
import { issueAuthority, issueCertificate } from '../../src/protocols/x509/issue-certificate.ts'
import type { Authority } from '../../src/protocols/x509/issue-certificate.ts'
import { KubeApiError } from '../../src/protocols/kube-api/kube-client.ts'
import type { KubeClient, KubeRequest, WatchEvent } from '../../src/protocols/kube-api/kube-client.ts'

const DAY_MS = 24 * 3_600_000

interface SigningObject {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string }
  readonly spec: { readonly request: string; readonly signerName: string; readonly usages: readonly string[] }
  readonly status: { readonly certificate?: string; readonly conditions?: readonly object[] }
}

/** What the signer does with requests that come. */
export type SignerPolicy = 'sign' | 'deny' | 'fail' | 'wait' | Error

/** An API server that knows certificate requests and nothing else, with a signer. */
export class FakeSigner implements KubeClient {
  policy: SignerPolicy = 'sign'
  lifetimeMs = 100 * DAY_MS
  /** Watches fail as soon as they begin. */
  refusesWatches = false
  reads = 0
  readonly requests: SigningObject[] = []
  readonly #authority: Authority
  readonly #clock: Clock
  #version = 0

  private constructor(authority: Authority, clock: Clock) {
    this.#authority = authority
    this.#clock = clock
  }

  static async create(clock: Clock): Promise<FakeSigner> {
    const keys = createKeys()
    const lifetimeMs = 10_000 * DAY_MS
    const pem = await issueAuthority(keys, { commonName: 'cluster', lifetimeMs }, clock.now())
    const { certificate, key } = parseKeyedCertificate(`${pem}${toKeyPem(keys.privateKey)}`)
    return new FakeSigner({ certificate, pem, key }, clock)
  }

  async send<T>({ method, path, body }: KubeRequest, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    if (this.policy instanceof Error) throw this.policy
    if (method === 'POST') return (await this.#create(body as SigningObject)) as T
    this.reads += 1
    const found = this.requests.find(({ metadata }) => path.endsWith(`/${encodeURIComponent(metadata.name)}`))
    if (found === undefined) throw new KubeApiError('not found', { code: 404, reason: 'NotFound' })
    return found as T
  }

  async *watch({ query = {} }: Pick<KubeRequest, 'query'>, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const name = query['fieldSelector']?.replace('metadata.name=', '')
    let version = query['resourceVersion']
    if (this.refusesWatches) return yield { type: 'ERROR', object: { code: 504 } }
    while (!signal.aborted) {
      const object = this.requests.find(({ metadata }) => metadata.name === name)
      if (object === undefined) return yield { type: 'DELETED', object: {} }
      if (object.metadata.resourceVersion !== version) yield { type: 'MODIFIED', object }
      version = object.metadata.resourceVersion
      await setImmediate()
    }
    throw signal.reason
  }

  /** Decides about the newest request as the policy says now. */
  async decide(): Promise<void> {
    const index = this.requests.length - 1
    const object = this.requests[index]
    if (object !== undefined)
      this.requests[index] = { ...object, metadata: this.#next(object), status: await this.#status(object) }
  }

  async #create({ metadata, spec }: SigningObject): Promise<SigningObject> {
    const name = metadata.name ?? `csr-${this.requests.length + 1}`
    if (this.requests.some((other) => other.metadata.name === name)) {
      throw new KubeApiError('it is there', { code: 409, reason: 'AlreadyExists' })
    }
    const made = { metadata: { name, uid: randomUUID(), resourceVersion: '' }, spec, status: {} }
    const object = { ...made, metadata: this.#next(made) }
    this.requests.push({ ...object, status: await this.#status(object) })
    return object
  }

  #next({ metadata }: SigningObject) {
    this.#version += 1
    return { ...metadata, resourceVersion: String(this.#version) }
  }

  async #status({ spec }: SigningObject): Promise<SigningObject['status']> {
    if (this.policy === 'deny') return { conditions: [{ type: 'Denied', reason: 'NotYou', message: 'go away' }] }
    if (this.policy === 'fail') return { conditions: [{ type: 'Failed', reason: 'Broken', message: 'no ink' }] }
    if (this.policy === 'wait') return {}
    const wanted = await parseSigningRequest(Buffer.from(spec.request, 'base64').toString('latin1'))
    const pem = await issueCertificate(
      this.#authority,
      {
        commonName: wanted.commonName ?? '',
        organizations: wanted.organizations,
        publicKey: wanted.publicKey,
        names: [...wanted.dnsNames, ...wanted.addresses],
        usages: [spec.usages.includes('client auth') ? 'client' : 'server'],
        lifetimeMs: this.lifetimeMs,
      },
      this.#clock.now(),
    )
    const certificate = Buffer.from(`${pem}${this.#authority.pem}`).toString('base64')
    return { certificate, conditions: [{ type: 'Approved', reason: 'Fine', message: '' }] }
  }
}
