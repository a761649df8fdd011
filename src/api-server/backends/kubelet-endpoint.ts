import { internalError, notFound } from '../api-error.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'

/** Where the kubelet of a node listens. */
export interface KubeletEndpoint {
  readonly address: string
  readonly port: number
  /** Whether it speaks the newest protocols of streams over WebSocket itself. */
  readonly speaksWebSocket: boolean
}

const USUAL_PORT = 10_250
const ADDRESS_TYPES = ['InternalIP', 'Hostname', 'InternalDNS', 'ExternalIP', 'ExternalDNS']
const WEB_SOCKET_FEATURE = 'ExtendWebSocketsToKubelet'

/**
 * What the Node of a name says about its kubelet; the address may be known better. Throws an ApiError when there is no such Node, or it has
 * no address.
 */
export function findKubeletEndpoint(objects: ObjectReader, name: string, knownAddress?: string): KubeletEndpoint {
  const node = objects.get({ resource: 'nodes', namespace: '', name })
  if (node === undefined) throw notFound({ group: '', resource: 'nodes', name })
  const { addresses = [], daemonEndpoints, declaredFeatures = [] } = node.status ?? {}
  const reported = ADDRESS_TYPES.map((type) => addresses.find((each) => each.type === type)?.address).find(Boolean)
  const address = knownAddress ?? reported
  if (address === undefined) {
    const known = addresses.map((each) => `${each.type}=${each.address}`).join(' ')
    throw internalError(`no preferred addresses found for node "${name}"; known addresses: [${known}]`)
  }
  return {
    address,
    port: daemonEndpoints?.kubeletEndpoint?.Port || USUAL_PORT,
    speaksWebSocket: declaredFeatures.includes(WEB_SOCKET_FEATURE),
  }
}
