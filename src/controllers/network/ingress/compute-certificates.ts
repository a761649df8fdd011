import type { Ingress } from '../../../model/generated/api-groups.ts'
import type { Live } from '../../engine/live-object.ts'
import type { IngressProblem } from './ingress-route.ts'

/** The secret with the certificate for a host, and the Ingress that says so. */
export interface CertificateUse {
  readonly ingress: Live<Ingress>
  readonly namespace: string
  readonly secretName: string
}

/** Which certificate is for which host, as "a.example", "*.a.example", or empty for those without one of their own. */
export function computeCertificates(served: readonly Live<Ingress>[]): {
  readonly uses: ReadonlyMap<string, CertificateUse>
  readonly problems: readonly IngressProblem[]
} {
  const uses = new Map<string, CertificateUse>()
  const problems: IngressProblem[] = []
  for (const ingress of served) {
    const { namespace, name } = ingress.metadata
    const { tls = [], rules = [] } = ingress.spec
    for (const { hosts = [], secretName } of tls) {
      // The certificate of those that name none is used then.
      if (!secretName) continue
      const named = hosts.length > 0 ? hosts : [...new Set(rules.map(({ host = '' }) => host))]
      for (const host of named.length > 0 ? named : ['']) {
        const use = uses.get(host)
        if (use === undefined) uses.set(host, { ingress, namespace, secretName })
        else if (use.namespace !== namespace || use.secretName !== secretName) {
          const owner = `${use.namespace}/${use.ingress.metadata.name}`
          const which = use.ingress.metadata.name === name && use.namespace === namespace ? 'first' : 'older'
          const message = `${host === '' ? 'all hosts' : host}: the certificate is that of ${owner}, which is ${which}`
          problems.push({ ingress, reason: 'ConflictingCertificate', message })
        }
      }
    }
  }
  return { uses, problems }
}

/** What certificates are looked up by, for a name that a client asks for: the first that there is. */
export function certificateNames(serverName: string): readonly string[] {
  const name = serverName.toLowerCase().replace(/\.$/, '')
  const dot = name.indexOf('.')
  return [name, ...(dot > 0 ? [`*${name.slice(dot)}`] : []), '']
}
