import type { KubeletFlags } from './flags/kubelet-flags.ts'
import type { TextMap } from './kinds/collection-kinds.ts'
import type { GivenConfiguration, KubeletConfiguration } from './kubelet-configuration.ts'
import { parseCpuSet } from '../resources/cpu-set.ts'

/**
 * Who may use the node's API. "ClientCertificate" stands for a node without API server that has no setting for authorization:
 * a client with a certificate of the configured client CA may do everything, any other nothing.
 */
export interface ServingAccess {
  readonly clientCaFile: string
  readonly anonymous: boolean
  readonly tokenWebhook: boolean
  readonly authorization: 'AlwaysAllow' | 'Webhook' | 'ClientCertificate'
}

/** Works out who may use the API from what was set and from whether there is an API server. */
export function toServingAccess(
  given: GivenConfiguration,
  config: KubeletConfiguration,
  flags: Pick<KubeletFlags, 'kubeconfig'>,
): ServingAccess {
  const isUndecided = given.authorization.mode === undefined && flags.kubeconfig === ''
  return {
    clientCaFile: config.authentication.x509.clientCAFile,
    anonymous: config.authentication.anonymous.enabled,
    tokenWebhook: config.authentication.webhook.enabled,
    authorization: isUndecided ? 'ClientCertificate' : config.authorization.mode,
  }
}

/** What is kept back from pods, as quantities. */
export interface Reservations {
  readonly kube: TextMap
  readonly system: TextMap
}

/** The reservations that apply: a list of reserved CPUs takes the place of both CPU quantities. */
export function toReservations(config: KubeletConfiguration): Reservations {
  const cpus = parseCpuSet(config.reservedSystemCPUs)
  if (cpus.length === 0) return { kube: config.kubeReserved, system: config.systemReserved }
  const { cpu: _, ...kube } = config.kubeReserved
  return { kube, system: { ...config.systemReserved, cpu: String(cpus.length) } }
}
