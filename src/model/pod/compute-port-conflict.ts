import type { ContainerPort } from '../generated/core-v1.ts'
import { isSidecar } from './pod-containers.ts'
import type { Pod } from './pod.ts'

const EVERY_ADDRESS = '0.0.0.0'

/** True when the pod wants a port of the node that another pod has: the same protocol and number on an address that both use. */
export function computePortConflict(pod: Pod, otherPods: readonly Pod[]): boolean {
  const wanted = listHostPorts(pod)
  if (wanted.length === 0) return false
  const taken = otherPods.flatMap(listHostPorts)
  return wanted.some((port) => taken.some((other) => clash(port, other)))
}

/** Init containers that end before the others start hold no port for the life of the pod. */
function listHostPorts({ spec }: Pod): readonly ContainerPort[] {
  return [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers]
    .flatMap(({ ports }) => ports ?? [])
    .filter(({ hostPort }) => (hostPort ?? 0) > 0)
}

function clash(a: ContainerPort, b: ContainerPort): boolean {
  if (a.hostPort !== b.hostPort || protocolOf(a) !== protocolOf(b)) return false
  const [first, second] = [addressOf(a), addressOf(b)]
  return first === second || first === EVERY_ADDRESS || second === EVERY_ADDRESS
}

function protocolOf({ protocol }: ContainerPort): string {
  return protocol === undefined || protocol === '' ? 'TCP' : protocol
}

function addressOf({ hostIP }: ContainerPort): string {
  return hostIP === undefined || hostIP === '' ? EVERY_ADDRESS : hostIP
}
