import { isIP } from 'node:net'
import type { Service, ServicePort, ServiceSpec } from '../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { portName } from '../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import { validateLabels } from '../../../model/schema/validation/validate-metadata.ts'
import { internalError, invalid } from '../../api-error.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import type { ResourceRules, RequestContext } from '../resource.ts'
import { sameValue } from '../../../base/document/same-value.ts'
import { findFreeAddress, isInRange } from './service-range.ts'
import { warnOfService } from '../warnings/warn-service.ts'

type StoredService = ObjectOf<Service>

const SPEC = FieldPath.root.child('spec')
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const HEADLESS = 'None'
const SESSION_SECONDS = 10_800
const NODE_PORTS = { first: 30_000, last: 32_767 }

/** Services are kept for their readers: they get an address and ports, but nothing here forwards traffic. */
export const serviceRules: ResourceRules<StoredService> = {
  warn: warnOfService,
  fillDefaults: (object) => {
    const spec = specOf(object)
    const type = spec.type || 'ClusterIP'
    return {
      ...object,
      spec: {
        ...spec,
        type,
        sessionAffinity: spec.sessionAffinity || 'None',
        ...(spec.sessionAffinity === 'ClientIP' && {
          sessionAffinityConfig: spec.sessionAffinityConfig ?? { clientIP: { timeoutSeconds: SESSION_SECONDS } },
        }),
        ...(type !== 'ExternalName' && { internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster' }),
        ...(hasNodePorts(type) && { externalTrafficPolicy: spec.externalTrafficPolicy ?? 'Cluster' }),
        ...(type === 'LoadBalancer' && { allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts ?? true }),
        ...(spec.ports && {
          ports: spec.ports.map((port) => ({ ...port, targetPort: port.targetPort ?? port.port })),
        }),
      },
    }
  },
  prepareCreate: (object, context) => ({ ...withAllocated(object, context), status: { loadBalancer: {} } }),
  prepareUpdate: (object, before, context) =>
    withAllocated(keepingAllocated(withoutLeftovers(object, specOf(before)), specOf(before)), context),
  validate: validateService,
  validateUpdate: (object, before) => {
    const problems = new ProblemList()
    const [spec, old] = [specOf(object), specOf(before)]
    const hadAddress = old.type !== 'ExternalName' && Boolean(old.clusterIP)
    if (hadAddress && spec.type !== 'ExternalName' && spec.clusterIP !== old.clusterIP) {
      problems.invalid(SPEC.child('clusterIPs').index(0), spec.clusterIP, 'may not change once set')
    }
    return problems.violations
  },
}

function specOf({ spec }: Service): ServiceSpec {
  return spec ?? {}
}

function hasNodePorts(type: string | undefined): boolean {
  return type === 'NodePort' || type === 'LoadBalancer'
}

/** A client that sends a service without its allocated address and ports does not mean to release them. */
function keepingAllocated(object: StoredService, old: ServiceSpec): StoredService {
  const spec = specOf(object)
  if (spec.type === 'ExternalName') return object
  const { clusterIP, clusterIPs } = old
  const isKept = !spec.clusterIP && clusterIP
  const ports = spec.ports?.map((port) => {
    const same = old.ports?.find((each) => each.port === port.port && each.protocol === port.protocol)
    return hasNodePorts(spec.type) && !port.nodePort && same?.nodePort ? { ...port, nodePort: same.nodePort } : port
  })
  return { ...object, spec: { ...spec, ...(isKept && { clusterIP, clusterIPs }), ...(ports && { ports }) } }
}

/** What only the type that a service had before has is dropped, where the client left it as it was. */
function withoutLeftovers(object: StoredService, old: ServiceSpec): StoredService {
  const spec = specOf(object)
  const { type, ports } = spec
  const isSame = (name: 'externalTrafficPolicy' | 'internalTrafficPolicy') => spec[name] === old[name]
  const outer = !hasNodePorts(type) && isSame('externalTrafficPolicy') ? { externalTrafficPolicy: undefined } : {}
  const inner = type === 'ExternalName' && isSame('internalTrafficPolicy') ? { internalTrafficPolicy: undefined } : {}
  const freed =
    hasNodePorts(old.type) && !hasNodePorts(type) && ports
      ? { ports: ports.map(({ nodePort: _nodePort, ...port }) => port) }
      : {}
  return { ...object, spec: { ...spec, ...outer, ...inner, ...freed } }
}

function withAllocated(object: StoredService, context: RequestContext): StoredService {
  const spec = specOf(object)
  const others = context.objects
    .list('services')
    .filter(({ metadata }) => metadata.uid !== object.metadata.uid)
    .map(specOf)
  if (spec.type === 'ExternalName') {
    const none = { clusterIP: undefined, clusterIPs: undefined, ipFamilies: undefined, ipFamilyPolicy: undefined }
    return { ...object, spec: { ...spec, ...none } }
  }
  const clusterIP = addressFor(object, spec, others, context)
  const families = { ipFamilies: ['IPv4'], ipFamilyPolicy: spec.ipFamilyPolicy ?? 'SingleStack' }
  const ports = portsFor(object, spec, others)
  return { ...object, spec: { ...spec, clusterIP, clusterIPs: [clusterIP], ...families, ...(ports && { ports }) } }
}

function addressFor(
  object: StoredService,
  { clusterIP, clusterIPs }: ServiceSpec,
  others: readonly ServiceSpec[],
  { serviceRange }: RequestContext,
): string {
  const asked = clusterIP || clusterIPs?.[0]
  if (asked === HEADLESS) return asked
  const taken = new Set(others.flatMap((other) => other.clusterIP ?? []))
  if (!asked) {
    const free = findFreeAddress(serviceRange, taken)
    if (free === undefined) throw internalError(`failed to allocate a serviceIP: range ${serviceRange.text} is full`)
    return free
  }
  const why = !isInRange(serviceRange, asked)
    ? `the provided IP (${asked}) is not in the valid range. The range of valid IPs is ${serviceRange.text}`
    : taken.has(asked)
      ? 'provided IP is already allocated'
      : undefined
  if (why !== undefined) reject(object, SPEC.child('clusterIPs'), [asked], `failed to allocate IP ${asked}: ${why}`)
  return asked
}

function portsFor(
  object: StoredService,
  spec: ServiceSpec,
  others: readonly ServiceSpec[],
): readonly ServicePort[] | undefined {
  const isWanted = hasNodePorts(spec.type) && spec.allocateLoadBalancerNodePorts !== false
  if (!isWanted) return spec.ports
  const taken = new Set(others.flatMap(({ ports = [] }) => ports.map(({ nodePort }) => nodePort)))
  return spec.ports?.map((port, index) => {
    const nodePort = port.nodePort || findFreePort(taken)
    const path = SPEC.child('ports').index(index).child('nodePort')
    if (nodePort < NODE_PORTS.first || nodePort > NODE_PORTS.last) {
      reject(object, path, nodePort, `provided port is not in the valid range. The range of valid ports is 30000-32767`)
    }
    if (port.nodePort && taken.has(nodePort)) reject(object, path, nodePort, 'provided port is already allocated')
    taken.add(nodePort)
    return { ...port, nodePort }
  })
}

function findFreePort(taken: ReadonlySet<number | undefined>): number {
  for (let port = NODE_PORTS.first; port <= NODE_PORTS.last; port++) if (!taken.has(port)) return port
  throw internalError('failed to allocate a nodePort: range is full')
}

function reject({ metadata }: StoredService, path: FieldPath, value: unknown, why: string): never {
  const problems = new ProblemList()
  problems.invalid(path, value, why)
  throw invalid({ group: '', kind: 'Service', name: metadata.name ?? '' }, problems.violations)
}

/** Who may reach a service, and from where. */
function validateTraffic(spec: ServiceSpec, problems: ProblemList): void {
  const { type, selector, sessionAffinity, externalIPs, externalTrafficPolicy, internalTrafficPolicy } = spec
  validateLabels(selector ?? {}, SPEC.child('selector'), problems)
  problems.oneOf(SPEC.child('sessionAffinity'), sessionAffinity, ['ClientIP', 'None'])
  for (const [index, address] of (externalIPs ?? []).entries()) {
    const path = SPEC.child('externalIPs').index(index)
    if (isIP(address) === 0) problems.invalid(path, address, 'must be a valid IP address')
    else if (/^127\.|^169\.254\.|^::1$|^0\.0\.0\.0$/.test(address)) {
      problems.invalid(path, address, 'must be an address that others can reach')
    }
  }
  if (externalTrafficPolicy && !hasNodePorts(type) && (externalIPs ?? []).length === 0) {
    const why = 'only services that are reached from outside have it'
    problems.invalid(SPEC.child('externalTrafficPolicy'), externalTrafficPolicy, why)
  }
  if (internalTrafficPolicy) {
    problems.oneOf(SPEC.child('internalTrafficPolicy'), internalTrafficPolicy, ['Cluster', 'Local'])
  }
}

function validateTarget(path: FieldPath, target: number | string | undefined, problems: ProblemList): void {
  if (typeof target === 'number') problems.inRange(path, target, 1, 65_535)
  else if (target !== undefined) problems.matches(path, target, portName)
}

function validateService({ spec }: StoredService) {
  const problems = new ProblemList()
  problems.oneOf(SPEC.child('type'), spec?.type, TYPES)
  const { type, clusterIP, clusterIPs, externalName, ports = [] } = spec ?? {}
  if (type !== 'ExternalName' && clusterIP !== HEADLESS && ports.length === 0) problems.required(SPEC.child('ports'))
  if (type === 'ExternalName' && !externalName) problems.required(SPEC.child('externalName'))
  if (hasNodePorts(type) && clusterIP === HEADLESS) {
    problems.invalid(SPEC.child('clusterIPs').index(0), clusterIP, `may not be set to 'None' for ${type} services`)
  }
  if (clusterIPs !== undefined && !sameValue(clusterIPs, [clusterIP])) {
    problems.invalid(SPEC.child('clusterIPs'), clusterIPs, 'one address, which must be that of clusterIP')
  }
  validateTraffic(spec ?? {}, problems)
  const names = new Set<string>()
  const numbers = new Set<string>()
  for (const [index, { name = '', port, protocol, targetPort, nodePort }] of ports.entries()) {
    const path = SPEC.child('ports').index(index)
    validateTarget(path.child('targetPort'), targetPort, problems)
    if (nodePort && !hasNodePorts(type))
      problems.forbidden(path.child('nodePort'), 'only services with ports of nodes have it')
    if (numbers.has(`${port}/${protocol}`)) problems.duplicate(path, port)
    numbers.add(`${port}/${protocol}`)
    problems.inRange(path.child('port'), port, 1, 65_535)
    problems.oneOf(path.child('protocol'), protocol, ['SCTP', 'TCP', 'UDP'])
    if (name === '' && ports.length > 1) problems.required(path.child('name'))
    if (name !== '' && names.has(name)) problems.duplicate(path.child('name'), name)
    names.add(name)
  }
  return problems.violations
}
