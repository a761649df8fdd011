import type { ContainerPort } from '../../../model/generated/core-v1.ts'
import type { FieldPath } from '../../../model/schema/field-path.ts'
import type { PlacedContainer } from './warn-container.ts'
import { warningAt } from './warning-at.ts'

interface PlacedPort {
  readonly port: ContainerPort
  readonly path: FieldPath
}

/** Advice about the ports of a pod, whose containers share one network. */
export function warnOfPorts(containers: readonly PlacedContainer[]): readonly string[] {
  const all = containers.flatMap(({ container, path }) =>
    (container.ports ?? []).map((port, index) => ({ port, path: path.child('ports').index(index) })),
  )
  return [...all.flatMap((placed, index) => warnOfPort(placed, all.slice(0, index))), ...warnOfNames(all)]
}

function warnOfPort({ port, path }: PlacedPort, others: readonly PlacedPort[]): readonly string[] {
  const warnings =
    port.hostIP && !port.hostPort ? [warningAt(path, `hostIP set without hostPort: ${describePort(port)}`)] : []
  for (const other of others) {
    const isSame = port.containerPort === other.port.containerPort && port.protocol === other.port.protocol
    const how = isSame ? compareHosts(port, other.port) : undefined
    if (how !== undefined) warnings.push(warningAt(path, `${how} port definition with ${other.path.toString()}`))
  }
  return warnings
}

/** How two definitions of one port and protocol get in each other's way; undefined when they do not. */
function compareHosts(port: ContainerPort, other: ContainerPort): string | undefined {
  const { hostIP = '', hostPort = 0 } = port
  const { hostIP: otherIp = '', hostPort: otherPort = 0 } = other
  if (hostIP === otherIp && hostPort === otherPort) return 'duplicate'
  if (hostPort === 0 || otherPort === 0) return 'overlapping'
  const isOneOpen = (hostIP === '') !== (otherIp === '')
  return hostPort === otherPort && isOneOpen ? 'dangerously ambiguous' : undefined
}

function describePort({ name = '', hostPort = 0, containerPort, protocol = '', hostIP = '' }: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`
}

function warnOfNames(all: readonly PlacedPort[]): readonly string[] {
  const first = new Map<string, FieldPath>()
  return all.flatMap(({ port: { name }, path }) => {
    if (!name) return []
    const other = first.get(name)
    if (other === undefined) first.set(name, path)
    if (other === undefined) return []
    const use = `services and probes that select ports by name will use ${other.toString()}`
    return [warningAt(path, `duplicate port name ${JSON.stringify(name)} with ${other.toString()}, ${use}`)]
  })
}
