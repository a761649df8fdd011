import type { KubeconfigInfo } from './kubeconfig-info.ts'
import { readCertificateSource } from './read-certificate.ts'
import { parseCertificates } from '../../protocols/x509/certificate-files.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'

/** Why the client certificate of a kubeconfig file cannot be used; undefined when it can. */
export async function findKubeconfigFault(
  { user }: Pick<KubeconfigInfo, 'user'>,
  now: number,
): Promise<string | undefined> {
  if (user.certificate === undefined) return 'it has no client certificate'
  try {
    const pair = await readCertificateSource(user.certificate)
    if (pair === undefined) return 'its client certificate is not there'
    const ended = parseCertificates(pair.certificatePem).find(({ validToDate }) => now > validToDate.getTime())
    return ended === undefined ? undefined : `its client certificate has ended at ${ended.validToDate.toISOString()}`
  } catch (error) {
    return `its client certificate is broken: ${errorMessage(error)}`
  }
}
