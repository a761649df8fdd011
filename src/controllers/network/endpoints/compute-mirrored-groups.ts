import type { Endpoint } from '../../../model/generated/api-groups.ts'
import type { EndpointAddress, Endpoints } from '../../../model/generated/core-v1.ts'
import { parseIp } from '../../../model/text/ip-number.ts'
import type { SliceGroup } from './compute-slice-groups.ts'

export interface MirroredGroups {
  readonly groups: readonly SliceGroup[]
  /** Addresses that are none. */
  readonly invalid: readonly string[]
  /** How many were left out because a subset has too many. */
  readonly skipped: number
}

const MOST_ADDRESSES = 1000

/** The slices of Endpoints that users wrote by hand. */
export function computeMirroredGroups({ subsets = [] }: Endpoints): MirroredGroups {
  const groups = new Map<string, { addressType: string; ports: SliceGroup['ports']; endpoints: Endpoint[] }>()
  const invalid: string[] = []
  let skipped = 0
  for (const { addresses = [], notReadyAddresses = [], ports: subsetPorts = [] } of subsets) {
    const ports = subsetPorts.map(({ name = '', port, protocol = 'TCP', appProtocol }) => ({
      name,
      port,
      protocol,
      ...(appProtocol !== undefined && { appProtocol }),
    }))
    const all = [
      ...addresses.map((address) => toEndpoint(address, true)),
      ...notReadyAddresses.map((address) => toEndpoint(address, false)),
    ]
    skipped += Math.max(0, all.length - MOST_ADDRESSES)
    for (const endpoint of all.slice(0, MOST_ADDRESSES)) {
      const addressType = parseIp(endpoint.addresses[0] ?? '')?.family
      if (addressType === undefined) invalid.push(endpoint.addresses[0] ?? '')
      else {
        const key = `${addressType} ${JSON.stringify(ports)}`
        const group = groups.get(key) ?? { addressType, ports, endpoints: [] }
        group.endpoints.push(endpoint)
        groups.set(key, group)
      }
    }
  }
  return { groups: [...groups.values()], invalid, skipped }
}

function toEndpoint({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname && { hostname }),
    ...(nodeName && { nodeName }),
    ...(targetRef && { targetRef }),
  }
}
