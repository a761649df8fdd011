import { Protocol } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { PortMapping } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { ContainerPort } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'

/** The ports of the regular containers, each once; also those without a port on the node, which some runtimes show. */
export function computePortMappings(pod: Pod): PortMapping[] {
  return pod.spec.containers.flatMap(({ ports = [] }) => {
    const byKey = new Map<string, ContainerPort>()
    for (const port of ports) {
      const key = portKey(port)
      if (!byKey.has(key)) byKey.set(key, port)
    }
    return [...byKey.values()].map(toPortMapping)
  })
}

function portKey({ name = '', protocol = 'TCP', hostIP = '', hostPort = 0, containerPort }: ContainerPort): string {
  if (name !== '') return name
  const family = hostIP === '' ? 'any' : hostIP.includes(':') ? 'v6' : 'v4'
  return `${family}-${protocol}-${hostIP}:${containerPort}:${hostPort}`
}

function toPortMapping({ protocol = 'TCP', hostIP = '', hostPort = 0, containerPort }: ContainerPort): PortMapping {
  return { protocol: toProtocol(protocol), hostIp: hostIP, hostPort, containerPort }
}

function toProtocol(text: string): Protocol {
  switch (text) {
    case 'UDP':
      return Protocol.UDP
    case 'SCTP':
      return Protocol.SCTP
    default:
      return Protocol.TCP
  }
}
