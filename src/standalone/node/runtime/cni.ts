/** The name of the pod network of a standalone node. */
export const POD_NETWORK = 'deckhand'

/** The pod network of one node: a bridge with addresses from one subnet. */
export interface BridgeNetwork {
  readonly name: string
  /** Name of the bridge device; at most 15 characters. */
  readonly bridge: string
  /** IPv4 subnet such as "10.88.0.0/16". */
  readonly subnet: string
  /** IPv6 subnet such as "fd00:88::/64", for pods with addresses of both families. */
  readonly subnet6?: string | undefined
  /** Where the addresses given out are remembered. */
  readonly leaseFolder: string
  /** Gives pods the node's address towards the outside; costs some firewall calls for each pod. */
  readonly masquerade: boolean
}

// The kernel's limit for a device name, without the closing zero.
const LONGEST_DEVICE_NAME = 15

/** The CNI configuration list of a pod network. */
export function createConflist(network: BridgeNetwork): string {
  if (network.bridge.length > LONGEST_DEVICE_NAME) {
    throw new Error(`Cannot name a bridge "${network.bridge}": expected at most ${LONGEST_DEVICE_NAME} characters`)
  }
  const both = network.subnet6 === undefined ? [] : [{ subnet: network.subnet6 }]
  const bridge = {
    type: 'bridge',
    bridge: network.bridge,
    isGateway: true,
    ipMasq: network.masquerade,
    hairpinMode: true,
    ipam: {
      type: 'host-local',
      dataDir: network.leaseFolder,
      ranges: [[{ subnet: network.subnet }], ...both.map((range) => [range])],
      routes: [{ dst: '0.0.0.0/0' }, ...both.map(() => ({ dst: '::/0' }))],
    },
  }
  const portmap = { type: 'portmap', capabilities: { portMappings: true } }
  return `${JSON.stringify({ cniVersion: '1.0.0', name: network.name, plugins: [bridge, portmap] }, undefined, 2)}\n`
}
