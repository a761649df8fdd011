import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'
import type { Pki } from './open-pki.ts'
import { ensureOwnCertificate } from './own-certificate.ts'

/** The certificate with which the API calls kubelets: for logs, commands in containers and the like. */
export async function ensureKubeletClientCertificate(
  pki: Pki,
  deps: { readonly clock: Clock; readonly log: Logger },
): Promise<KeyedCertificate> {
  return await ensureOwnCertificate(
    pki,
    {
      file: 'kubelet-client.pem',
      commonName: 'kube-apiserver-kubelet-client',
      organizations: ['system:masters'],
      names: [],
      usages: ['client'],
    },
    deps,
  )
}
