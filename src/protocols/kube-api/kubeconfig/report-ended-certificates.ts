import type { Logger } from '../../../base/telemetry/logger.ts'

/** A client certificate that is shown although its time is over. */
export interface EndedCertificate {
  /** Undefined when it stands in the kubeconfig file itself. */
  readonly file: string | undefined
  readonly certificatePem: string
  readonly endedAt: Date
}

/** Says once of each certificate that it has ended: a server only says "Unauthorized", to each request. */
export function reportEndedCertificates(log: Logger): (kubeconfig: string, ended: EndedCertificate) => void {
  const reported = new Map<string, string>()
  return (kubeconfig, { file = kubeconfig, certificatePem, endedAt }) => {
    if (reported.get(file) === certificatePem) return
    reported.set(file, certificatePem)
    log.error('the client certificate has ended, the API knows this node no more', {
      file,
      endedAt: endedAt.toISOString(),
    })
  }
}
