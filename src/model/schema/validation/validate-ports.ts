import type { Container, ContainerPort } from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { portName } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'

const MAX_PORT = 65535

/** Ports of one container. */
export function validatePorts(ports: readonly ContainerPort[], path: FieldPath, problems: ProblemList): void {
  const names = new Set<string>()
  for (const [index, port] of ports.entries()) {
    const at = path.index(index)
    if (port.name) {
      problems.matches(at.child('name'), port.name, portName)
      if (names.has(port.name)) problems.duplicate(at.child('name'), port.name)
      names.add(port.name)
    }
    if (port.containerPort === 0) problems.required(at.child('containerPort'))
    else problems.inRange(at.child('containerPort'), port.containerPort, 1, MAX_PORT)
    if (port.hostPort) problems.inRange(at.child('hostPort'), port.hostPort, 1, MAX_PORT)
    problems.oneOf(at.child('protocol'), port.protocol, ['SCTP', 'TCP', 'UDP'])
  }
}

/** Two containers that run together cannot have the same port of the host. */
export function validateHostPorts(containers: readonly Container[], path: FieldPath, problems: ProblemList): void {
  const taken = new Set<string>()
  for (const [index, container] of containers.entries()) {
    for (const [position, port] of (container.ports ?? []).entries()) {
      if (!port.hostPort) continue
      const key = `${port.protocol}/${port.hostIP ?? ''}/${port.hostPort}`
      if (taken.has(key)) problems.duplicate(path.index(index).child('ports').index(position).child('hostPort'), key)
      taken.add(key)
    }
  }
}

/** A port of a probe or hook: a number, or the name of a port. */
export function validatePortReference(port: number | string, path: FieldPath, problems: ProblemList): void {
  if (typeof port === 'string') problems.matches(path, port, portName)
  else problems.inRange(path, port, 1, MAX_PORT)
}
