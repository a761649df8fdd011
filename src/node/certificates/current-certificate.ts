import type { Clock } from '../../base/async/clock.ts'
import type { CertificatePair, CertificateProvider } from './certificate-provider.ts'
import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'

/** The certificate that is in use, until it ends or another one takes its place. */
export class CurrentCertificate implements CertificateProvider {
  readonly #clock: Clock
  readonly #listeners = new Set<() => void>()
  #held: KeyedCertificate | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Also one that has ended. */
  get held(): KeyedCertificate | undefined {
    return this.#held
  }

  current(): CertificatePair | undefined {
    if (this.#held === undefined || hasEnded(this.#held, this.#clock.now())) return undefined
    return this.#held
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  replace(certificate: KeyedCertificate): void {
    this.#held = certificate
    for (const listener of this.#listeners) listener()
  }

  /** For the metric: without end when there is nothing that could end. */
  ttlSeconds(): number {
    if (this.#held === undefined || this.current() === undefined) return Infinity
    return Math.trunc((this.#held.certificate.validToDate.getTime() - this.#clock.now()) / 1000)
  }
}

export function hasEnded({ certificate }: KeyedCertificate, now: number): boolean {
  return now > certificate.validToDate.getTime()
}
