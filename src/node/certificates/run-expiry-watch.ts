import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { CertificateProvider } from './certificate-provider.ts'

export interface ExpiryWatchDeps {
  readonly certificates: Pick<CertificateProvider, 'current'>
  /** Whether the server that signs was there when it was asked last. */
  readonly isServerThere: () => boolean
  /** Ends the agent: after a restart it finds other credentials, or begins with those of the bootstrap. */
  readonly giveUp: (error: Error) => void
  readonly clock: Clock
  readonly log: Logger
}

/** The certificate has expired, so a server that is there rejects every request of the agent. */
class NoCertificateError extends Error {
  override readonly name = 'NoCertificateError'
}

const CHECK_EVERY_MS = 10_000
const PATIENCE_MS = 5 * 60_000

/** Gives up when there was no valid client certificate for five minutes and the server is there. Waits for a server that is not. */
export async function runExpiryWatch(deps: ExpiryWatchDeps, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps
  let lastSeenAt = clock.monotonic()
  let isReported = false
  for (;;) {
    if (deps.certificates.current() !== undefined) {
      lastSeenAt = clock.monotonic()
      isReported = false
    } else if (clock.monotonic() - lastSeenAt > PATIENCE_MS) {
      if (deps.isServerThere()) {
        const minutes = PATIENCE_MS / 60_000
        deps.giveUp(
          new NoCertificateError(
            `Cannot go on without a valid client certificate: there was none for ${minutes} minutes, and the server gives none for the credentials that are left; expected a bootstrap kubeconfig or a certificate that is good`,
          ),
        )
        return
      }
      if (!isReported) log.error('there is no valid client certificate, and the server does not answer')
      isReported = true
    }
    await clock.sleep(CHECK_EVERY_MS, signal)
  }
}
