import { FatalError } from '../../base/async/abort-errors.ts'
import { X509Certificate } from 'node:crypto'
import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { Replaceable } from '../http/run-kubelet-server.ts'

export interface ClientAuthoritiesDeps {
  readonly path: string
  readonly readFile: (path: string, maxBytes: number) => Promise<Uint8Array>
  readonly clock: Clock
  readonly log: Logger
}

const MAX_BYTES = 4 * 1024 * 1024
const CHECK_MS = 30_000
const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The authorities that sign the certificates of clients, from a file that may be replaced at any time. */
export class ClientAuthorities implements Replaceable<string> {
  readonly #deps: ClientAuthoritiesDeps
  readonly #listeners = new Set<() => void>()
  #pem: string
  #certificates: readonly X509Certificate[]

  private constructor(deps: ClientAuthoritiesDeps, pem: string) {
    this.#deps = deps
    this.#pem = pem
    this.#certificates = parseAuthorities(pem)
  }

  /** Fails when the file cannot be read or holds no certificate. */
  static async load(deps: ClientAuthoritiesDeps): Promise<ClientAuthorities> {
    try {
      return new ClientAuthorities(deps, await readPem(deps))
    } catch (error) {
      throw new FatalError(`Cannot use clientCAFile "${deps.path}"`, { cause: error })
    }
  }

  get certificates(): readonly X509Certificate[] {
    return this.#certificates
  }

  current(): string {
    return this.#pem
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Takes what the file says as it changes. A file that is no good, or half written, changes nothing. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, path } = this.#deps
    for (;;) {
      await clock.sleep(CHECK_MS, signal)
      try {
        const pem = await readPem(this.#deps)
        if (pem === this.#pem) continue
        this.#certificates = parseAuthorities(pem)
        this.#pem = pem
        log.info('takes other authorities of clients from now on', { path, authorities: this.#certificates.length })
        for (const report of this.#listeners) report()
      } catch (error) {
        log.error('cannot use the authorities of clients, keeps those it has', { path, error })
      }
    }
  }
}

async function readPem({ path, readFile }: ClientAuthoritiesDeps): Promise<string> {
  return Buffer.from(await readFile(path, MAX_BYTES)).toString('utf8')
}

function parseAuthorities(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(PEM_BLOCK) ?? []
  if (blocks.length === 0) throw new Error('expected at least one certificate in PEM form')
  return blocks.map((block) => new X509Certificate(block))
}
