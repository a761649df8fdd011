import type { NodeAddress } from '../../../model/generated/core-v1.ts'
import type { AddressInfo } from './node-info.ts'
import type { NodeProfile } from './node-profile.ts'

/** Shows a cloud controller which addresses were asked for. */
const PROVIDED_IP_ANNOTATION = 'alpha.kubernetes.io/provided-node-ip'

/** The part of a Node object that says how the node is reached. */
export interface Reachability {
  readonly addresses: readonly NodeAddress[]
  readonly annotations: Readonly<Record<string, string>>
}

/** The addresses of the node; or a sentence why they are not known, and then nothing changes. A node on no network has its name at least. */
export function computeNodeAddresses(
  before: Reachability,
  profile: Pick<NodeProfile, 'nodeName' | 'nodeIps' | 'externalCloud'>,
  info: AddressInfo,
): Reachability | string {
  if (info.fault !== undefined) return info.fault
  const { nodeName, externalCloud, nodeIps } = profile
  const given = nodeIps.filter((ip) => ip !== '0.0.0.0' && ip !== '::')
  const annotations = annotate(before.annotations, externalCloud ? given : [])
  // A cloud controller knows better.
  if (externalCloud && before.addresses.length > 0) return { ...before, annotations }
  const hostname: NodeAddress = { type: 'Hostname', address: nodeName }
  if (externalCloud && nodeIps.length === 0) return { addresses: [hostname], annotations }
  const ips = given.length > 0 ? given : info.found === undefined ? [] : [info.found]
  const hadAddress = before.addresses.some(({ type }) => type !== 'Hostname')
  if (ips.length === 0 && hadAddress)
    return `Cannot find the address of node "${nodeName}": expected one that is not only local`
  return { addresses: [...ips.map((address) => ({ type: 'InternalIP', address })), hostname], annotations }
}

function annotate(before: Readonly<Record<string, string>>, given: readonly string[]) {
  const { [PROVIDED_IP_ANNOTATION]: _, ...others } = before
  return given.length === 0 ? others : { ...others, [PROVIDED_IP_ANNOTATION]: given.join(',') }
}
