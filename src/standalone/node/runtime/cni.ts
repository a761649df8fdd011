/** The pod network of one node: a bridge with addresses from one subnet. */
export interface PodNetwork {
  readonly name: string
  /** Name of the bridge device; at most 15 characters. */
  readonly bridge: string
  /** IPv4 subnet such as "10.88.0.0/16". */
  readonly subnet: string
  /** Where the addresses given out are remembered. */
  readonly leaseFolder: string
  /** Gives pods the node's address towards the outside; costs some firewall calls for each pod. */
  readonly masquerade: boolean
}

// The kernel's limit for a device name, without the closing zero.
const LONGEST_DEVICE_NAME = 15

/** The CNI configuration list of a pod network. */
export function createConflist(network: PodNetwork): string {
  if (network.bridge.length > LONGEST_DEVICE_NAME) {
    throw new Error(`Cannot name a bridge "${network.bridge}": expected at most ${LONGEST_DEVICE_NAME} characters`)
  }
  const bridge = {
    type: 'bridge',
    bridge: network.bridge,
    isGateway: true,
    ipMasq: network.masquerade,
    hairpinMode: true,
    ipam: {
      type: 'host-local',
      dataDir: network.leaseFolder,
      ranges: [[{ subnet: network.subnet }]],
      routes: [{ dst: '0.0.0.0/0' }],
    },
  }
  const portmap = { type: 'portmap', capabilities: { portMappings: true } }
  return `${JSON.stringify({ cniVersion: '1.0.0', name: network.name, plugins: [bridge, portmap] }, undefined, 2)}\n`
}
