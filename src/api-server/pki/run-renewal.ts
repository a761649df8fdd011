import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'
import { ensureKubeconfig } from './client-kubeconfig.ts'
import type { ClientIdentity } from './client-kubeconfig.ts'
import { ensureKubeletClientCertificate } from './kubelet-client-certificate.ts'
import type { Pki } from './open-pki.ts'
import { ensureServingCertificate } from './serving-certificate.ts'

export interface RenewalDeps {
  readonly pki: Pki
  readonly clock: Clock
  readonly log: Logger
  /** What the API is reached by besides the usual names, at the moment. */
  readonly servingNames: () => readonly string[]
  readonly identities: readonly ClientIdentity[]
  /** As in "https://127.0.0.1:6443". */
  readonly server: string
  readonly onServingCertificate: (certificate: KeyedCertificate) => void
  readonly onKubeletClientCertificate: (certificate: KeyedCertificate) => void
}

// Not a sleep until the end of a certificate: clocks are set, and addresses come and go.
const CHECK_EVERY_MS = 60_000

/** Renews the serving certificate and the kubeconfig files before they end, or when they have to say something else. */
export async function runRenewal(deps: RenewalDeps, signal: AbortSignal): Promise<void> {
  for (;;) {
    await deps.clock.sleep(CHECK_EVERY_MS, signal)
    try {
      deps.onServingCertificate(await ensureServingCertificate(deps.pki, deps.servingNames(), deps))
      deps.onKubeletClientCertificate(await ensureKubeletClientCertificate(deps.pki, deps))
      for (const identity of deps.identities) await ensureKubeconfig(deps.pki, identity, deps.server, deps)
    } catch (error) {
      deps.log.error('cannot renew the certificates of the API, will try again', { error })
    }
  }
}
