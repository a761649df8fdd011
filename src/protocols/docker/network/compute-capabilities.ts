import { parseQuantity, quantityValue } from '../../../model/resources/quantity.ts'
import { CniError } from '../../cni/cni-error.ts'
import { Protocol } from '../../cri/generated/runtime-v1.ts'
import type { PodSandboxConfig } from '../../cri/generated/runtime-v1.ts'

const PROTOCOLS: Readonly<Partial<Record<Protocol, string>>> = { [Protocol.UDP]: 'udp', [Protocol.SCTP]: 'sctp' }
const INGRESS = 'kubernetes.io/ingress-bandwidth'
const EGRESS = 'kubernetes.io/egress-bandwidth'
const LEAST_BITS = 1000n
const MOST_BITS = 1_000_000_000_000_000n
// Bits: as many as plugins take.
const BURST = 2 ** 31 - 1

/** What plugins may ask of a pod: its ports of the node, how fast it may be, and the addresses of the node's pods. */
export function computeCapabilities(
  { portMappings, annotations }: Pick<PodSandboxConfig, 'portMappings' | 'annotations'>,
  podCidr: string,
): Readonly<Record<string, unknown>> {
  const ports = portMappings
    .filter(({ hostPort }) => hostPort > 0)
    .map(({ hostPort, containerPort, protocol, hostIp: hostIP }) => {
      return { hostPort, containerPort, protocol: PROTOCOLS[protocol] ?? 'tcp', hostIP }
    })
  const bandwidth = {
    ...toRate('ingress', annotations[INGRESS]),
    ...toRate('egress', annotations[EGRESS]),
  }
  // A node with addresses of both families has two.
  const ranges = podCidr.split(',').flatMap((subnet) => (subnet.trim() === '' ? [] : [[{ subnet: subnet.trim() }]]))
  return {
    portMappings: ports,
    ...(Object.keys(bandwidth).length === 0 ? {} : { bandwidth }),
    ...(ranges.length === 0 ? {} : { ipRanges: ranges }),
  }
}

function toRate(direction: 'ingress' | 'egress', text: string | undefined): Readonly<Record<string, number>> {
  if (text === undefined) return {}
  const bits = quantityValue(parseQuantity(text))
  if (bits < LEAST_BITS) throw new CniError('resource is unreasonably small (< 1kbit)')
  if (bits > MOST_BITS) throw new CniError('resource is unreasonably large (> 1Pbit)')
  return { [`${direction}Rate`]: Number(bits), [`${direction}Burst`]: BURST }
}
