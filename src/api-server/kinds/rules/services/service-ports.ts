import type { ServicePort, ServiceSpec } from '../../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { internalError } from '../../../api-error.ts'
import { hasNodePorts, rejectService, serviceSpecOf } from './service-type.ts'
import type { StoredService } from './service-type.ts'

const SPEC = FieldPath.root.child('spec')
const NODE_PORTS = { first: 30_000, last: 32_767 }
// Those before it are left to services that choose one.
const FIRST_FREELY_GIVEN = 30_086

/** Whether balancers ask at a port of its own if pods of it run on the node. */
export function needsHealthPort({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local'
}

/** The service with ports of the node where its type has them. A number is given to one service alone, whatever the protocol. */
export function withNodePorts(
  object: StoredService,
  old: ServiceSpec | undefined,
  others: readonly ServiceSpec[],
): StoredService {
  const spec = serviceSpecOf(object)
  const taken = new Set(others.flatMap(portsTaken))
  const ports = hasNodePorts(spec.type) ? portsFor(object, old, taken) : spec.ports
  return { ...object, spec: { ...spec, ...(ports && { ports }), ...healthPortFor(object, taken) } }
}

function portsTaken({ ports = [], healthCheckNodePort }: ServiceSpec): readonly number[] {
  return [...ports.map(({ nodePort }) => nodePort), healthCheckNodePort].filter((port) => port !== undefined)
}

function portsFor(
  object: StoredService,
  old: ServiceSpec | undefined,
  taken: Set<number>,
): readonly ServicePort[] | undefined {
  const { type, ports, allocateLoadBalancerNodePorts } = serviceSpecOf(object)
  const isGiven = type !== 'LoadBalancer' || allocateLoadBalancerNodePorts !== false
  for (const [index, { nodePort }] of (ports ?? []).entries()) {
    if (nodePort) check(object, taken, SPEC.child('ports').index(index).child('nodePort'), nodePort)
  }
  for (const { nodePort } of ports ?? []) if (nodePort) taken.add(nodePort)
  const byPort = new Map<number, number>()
  return ports?.map((port) => {
    if (port.nodePort || !isGiven) return port
    // One number for both protocols of a port, as DNS has it; only in a new service.
    const shared = old === undefined ? byPort.get(port.port) : undefined
    const nodePort = shared ?? findFreePort(taken)
    taken.add(nodePort)
    byPort.set(port.port, nodePort)
    return { ...port, nodePort }
  })
}

function healthPortFor(object: StoredService, taken: Set<number>): Partial<ServiceSpec> {
  const spec = serviceSpecOf(object)
  if (!needsHealthPort(spec)) return {}
  const asked = spec.healthCheckNodePort
  if (asked) check(object, taken, SPEC.child('healthCheckNodePort'), asked)
  return { healthCheckNodePort: asked || findFreePort(taken) }
}

function check(object: StoredService, taken: ReadonlySet<number>, path: FieldPath, port: number): void {
  const { first, last } = NODE_PORTS
  if (port < first || port > last) {
    const why = `provided port is not in the valid range. The range of valid ports is ${first}-${last}`
    rejectService(object, path, port, why)
  }
  if (taken.has(port)) rejectService(object, path, port, 'provided port is already allocated')
}

function findFreePort(taken: ReadonlySet<number>): number {
  const { first, last } = NODE_PORTS
  const count = last - first + 1
  for (let step = 0; step < count; step++) {
    const port = first + ((FIRST_FREELY_GIVEN - first + step) % count)
    if (!taken.has(port)) return port
  }
  throw internalError('failed to allocate a nodePort: range is full')
}
