import type { ServicePort, ServiceSpec } from '../../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import {
  dnsLabel,
  dnsSubdomain,
  ipAddress,
  portName,
  qualifiedName,
} from '../../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { Violation } from '../../../../model/schema/validation/problem-list.ts'
import { validateLabels } from '../../../../model/schema/validation/validate-metadata.ts'
import { parseCidr, parseIp } from '../../../../model/text/ip-number.ts'
import { needsHealthPort } from './service-ports.ts'
import { HEADLESS, hasNodePorts, isReachedFromOutside, serviceSpecOf } from './service-type.ts'
import type { StoredService } from './service-type.ts'
import { validateReachableAddress } from './validate-reachable-address.ts'

const SPEC = FieldPath.root.child('spec')
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
const LONGEST_SESSION_SECONDS = 86_400

export function validateService(object: StoredService): readonly Violation[] {
  const problems = new ProblemList()
  const spec = serviceSpecOf(object)
  const { type, clusterIP, ports = [] } = spec
  problems.oneOf(SPEC.child('type'), type, TYPES)
  if (type !== 'ExternalName' && clusterIP !== HEADLESS && ports.length === 0) problems.required(SPEC.child('ports'))
  if (hasNodePorts(type) && clusterIP === HEADLESS) {
    problems.invalid(SPEC.child('clusterIPs').index(0), clusterIP, `may not be set to 'None' for ${type} services`)
  }
  if (type === 'ExternalName') validateName(spec, problems)
  else validateFamilies(spec, problems)
  validatePorts(spec, ports, problems)
  validateTraffic(spec, problems)
  validateBalancing(spec, problems)
  return problems.violations
}

function validateName(spec: ServiceSpec, problems: ProblemList): void {
  for (const name of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const) {
    if ((spec[name]?.length ?? 0) > 0) problems.forbidden(SPEC.child(name), 'may not be set for ExternalName services')
  }
  problems.name(SPEC.child('externalName'), spec.externalName?.replace(/\.$/, ''), dnsSubdomain)
}

function validateFamilies(spec: ServiceSpec, problems: ProblemList): void {
  const { clusterIP, clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec
  const path = SPEC.child('clusterIPs')
  if (clusterIP && clusterIPs.length === 0) problems.required(path)
  else if (clusterIP && clusterIPs[0] !== clusterIP)
    problems.invalid(path, clusterIPs, 'first value must match `clusterIP`')
  if (!clusterIP && clusterIPs.length > 0)
    problems.invalid(path, clusterIPs, 'must be empty when `clusterIP` is not specified')
  for (const [index, family] of ipFamilies.entries()) {
    problems.oneOf(SPEC.child('ipFamilies').index(index), family, ['IPv4', 'IPv6'])
    if (ipFamilies.indexOf(family) < index) problems.duplicate(SPEC.child('ipFamilies').index(index), family)
  }
  if (ipFamilyPolicy) problems.oneOf(SPEC.child('ipFamilyPolicy'), ipFamilyPolicy, POLICIES)
  if (clusterIPs.length > 2) problems.invalid(path, clusterIPs, 'may only hold up to 2 values')
  for (const [index, address] of clusterIPs.entries()) {
    if (address === HEADLESS) {
      if (clusterIPs.length > 1) problems.invalid(path, clusterIPs, "'None' must be the first and only value")
      continue
    }
    problems.matches(path.index(index), address, ipAddress)
    const family = parseIp(address)?.family
    if (family !== undefined && ipFamilies[index] !== undefined && ipFamilies[index] !== family) {
      const why = `expected an ${ipFamilies[index]} value as indicated by \`ipFamilies[${index}]\``
      problems.invalid(path.index(index), address, why)
    }
  }
}

function validatePorts({ type }: ServiceSpec, ports: readonly ServicePort[], problems: ProblemList): void {
  const seen = new Set<string>()
  const isSeen = (what: string) => seen.has(what) || !seen.add(what)
  for (const [index, { name = '', port, protocol, targetPort, nodePort, appProtocol }] of ports.entries()) {
    const path = SPEC.child('ports').index(index)
    if (name === '' && ports.length > 1) problems.required(path.child('name'))
    else if (name !== '') problems.matches(path.child('name'), name, dnsLabel)
    if (name !== '' && isSeen(`name ${name}`)) problems.duplicate(path.child('name'), name)
    problems.inRange(path.child('port'), port, 1, 65_535)
    problems.oneOf(path.child('protocol'), protocol, ['SCTP', 'TCP', 'UDP'])
    if (typeof targetPort === 'number') problems.inRange(path.child('targetPort'), targetPort, 1, 65_535)
    else if (targetPort !== undefined) problems.matches(path.child('targetPort'), targetPort, portName)
    if (appProtocol) problems.matches(path.child('appProtocol'), appProtocol, qualifiedName)
    if (nodePort && type === 'ClusterIP')
      problems.forbidden(path.child('nodePort'), "may not be used when `type` is 'ClusterIP'")
    if (nodePort && isSeen(`node ${protocol} ${nodePort}`)) problems.duplicate(path.child('nodePort'), nodePort)
    if (isSeen(`port ${protocol} ${port}`)) problems.duplicate(path, { protocol, port })
  }
}

/** Who may reach a service, and from where. */
function validateTraffic(spec: ServiceSpec, problems: ProblemList): void {
  const { sessionAffinity, externalIPs = [], externalTrafficPolicy, internalTrafficPolicy, trafficDistribution } = spec
  validateLabels(spec.selector ?? {}, SPEC.child('selector'), problems)
  problems.oneOf(SPEC.child('sessionAffinity'), sessionAffinity, ['ClientIP', 'None'])
  const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds
  problems.inRange(
    SPEC.child('sessionAffinityConfig').child('clientIP').child('timeoutSeconds'),
    seconds,
    1,
    LONGEST_SESSION_SECONDS,
  )
  for (const [index, address] of externalIPs.entries())
    validateReachableAddress(SPEC.child('externalIPs').index(index), address, problems)
  if (externalTrafficPolicy && !isReachedFromOutside(spec)) {
    const why = 'may only be set for externally-accessible services'
    problems.invalid(SPEC.child('externalTrafficPolicy'), externalTrafficPolicy, why)
  } else if (externalTrafficPolicy)
    problems.oneOf(SPEC.child('externalTrafficPolicy'), externalTrafficPolicy, ['Cluster', 'Local'])
  if (internalTrafficPolicy)
    problems.oneOf(SPEC.child('internalTrafficPolicy'), internalTrafficPolicy, ['Cluster', 'Local'])
  if (trafficDistribution !== undefined) {
    const known = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
    if (!known.includes(trafficDistribution))
      problems.unsupported(SPEC.child('trafficDistribution'), trafficDistribution, known)
  }
}

/** What only balancers have. */
function validateBalancing(spec: ServiceSpec, problems: ProblemList): void {
  const { type, loadBalancerSourceRanges: ranges = [], healthCheckNodePort, loadBalancerClass } = spec
  const only = "may only be used when `type` is 'LoadBalancer'"
  const isBalancer = type === 'LoadBalancer'
  if (ranges.length > 0 && !isBalancer) problems.forbidden(SPEC.child('loadBalancerSourceRanges'), only)
  for (const [index, range] of ranges.entries()) {
    if (parseCidr(range.trim()) !== undefined) continue
    const why = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
    problems.invalid(SPEC.child('loadBalancerSourceRanges').index(index), range, why)
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isBalancer)
    problems.forbidden(SPEC.child('allocateLoadBalancerNodePorts'), only)
  if (loadBalancerClass !== undefined && !isBalancer) problems.forbidden(SPEC.child('loadBalancerClass'), only)
  else if (loadBalancerClass !== undefined)
    problems.matches(SPEC.child('loadBalancerClass'), loadBalancerClass, qualifiedName)
  if (healthCheckNodePort && !needsHealthPort(spec)) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    problems.invalid(SPEC.child('healthCheckNodePort'), healthCheckNodePort, why)
  }
}
