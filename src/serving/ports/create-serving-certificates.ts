import { LatePart } from '../../base/async/late-part.ts'
import type { Clock } from '../../base/async/clock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { AgentMetrics } from '../../metrics/create-metrics.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { SetAside } from '../../node/certificates/certificate-provider.ts'
import type { ServingCertificates } from '../../node/certificates/open-serving-certificates.ts'
import type { OwnNode } from '../../node/registration/create-node.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'

export interface CreateServingCertificatesDeps {
  readonly settings: Settings
  readonly ownNode: Pick<OwnNode, 'addresses' | 'ips'>
  /** Undefined on a node without an API server. */
  readonly client: KubeClient | undefined
  readonly apiReturn: ApiReturn
  readonly metrics: AgentMetrics
  readonly setAside: SetAside
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

const LOOPBACK = ['127.0.0.1', '::1']

/** The certificate of the kubelet's own API, and what keeps it up to date; loaded with that API. */
export function createServingCertificates(
  deps: CreateServingCertificatesDeps,
  group: TaskGroup,
): LatePart<ServingCertificates> {
  return new LatePart(async () => {
    const certificates = await openCertificates(deps)
    group.runLoop('serving certificate', (s) => certificates.run(s))
    return certificates
  })
}

async function openCertificates(deps: CreateServingCertificatesDeps): Promise<ServingCertificates> {
  const { settings, ownNode, metrics } = deps
  const { config, flags, gates, nodeName } = settings
  const { openServingCertificates } = await import('../../node/certificates/open-serving-certificates.ts')
  return await openServingCertificates({
    ...deps,
    nodeName,
    folder: flags.certDir,
    tlsCertFile: config.tlsCertFile,
    tlsPrivateKeyFile: config.tlsPrivateKeyFile,
    serverTLSBootstrap: config.serverTLSBootstrap,
    reloads: gates.enabled('ReloadKubeletServerCertificateFile'),
    // A port on loopback alone is reached by name, and a machine that is on no network has nothing else.
    allowsNamesOnly: gates.enabled('AllowDNSOnlyNodeCSR') || LOOPBACK.includes(config.address),
    nodeIps: ownNode.ips(),
    nodeAddresses: () => ownNode.addresses() ?? [{ type: 'Hostname', address: nodeName }],
    metrics: {
      renewError: () => metrics.certificateRenewalFailed('server'),
      rotated: (seconds) => metrics.serverCertificateRotated(seconds),
    },
  })
}
