import { sameValue } from '../../../../base/document/same-value.ts'
import type { ServiceSpec } from '../../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { ResourceRules, RequestContext } from '../../resource.ts'
import { warnOfService } from '../../warnings/warn-service.ts'
import { withAddresses } from './service-addresses.ts'
import { needsHealthPort, withNodePorts } from './service-ports.ts'
import { hasNodePorts, isReachedFromOutside, serviceSpecOf } from './service-type.ts'
import type { StoredService } from './service-type.ts'
import { validateService } from './validate-service.ts'

const SPEC = FieldPath.root.child('spec')
const SESSION_SECONDS = 10_800

/** What a service is reached by: addresses and ports, given and kept here; src/controllers acts on them. */
export const serviceRules: ResourceRules<StoredService> = {
  warn: warnOfService,
  fillDefaults,
  prepareCreate: (object, context) => {
    const spec = serviceSpecOf(object)
    // Of the two only the first stands for both.
    const named = spec.clusterIP && !spec.clusterIPs ? { ...spec, clusterIPs: [spec.clusterIP] } : spec
    return { ...withAllocated({ ...object, spec: named }, undefined, context), status: { loadBalancer: {} } }
  },
  prepareUpdate: (object, before, context) => {
    const old = serviceSpecOf(before)
    const kept = keepingAllocated(withoutLeftovers(object, old), old)
    const isLeaving = old.type === 'LoadBalancer' && serviceSpecOf(kept).type !== 'LoadBalancer'
    const freed = isLeaving ? { ...kept, status: { ...kept.status, loadBalancer: {} } } : kept
    return withAllocated(freed, old, context)
  },
  prepareStatus: (object) => {
    const { ingress } = object.status?.loadBalancer ?? {}
    if (ingress === undefined) return object
    const filled = ingress.map((each) => (each.ip && !each.ipMode ? { ...each, ipMode: 'VIP' } : each))
    return {
      ...object,
      status: { ...object.status, loadBalancer: { ...object.status?.loadBalancer, ingress: filled } },
    }
  },
  validate: validateService,
  validateUpdate: (object, before) => {
    const problems = new ProblemList()
    const [spec, old] = [serviceSpecOf(object), serviceSpecOf(before)]
    validateAddresses(spec, old, problems)
    const isBalancer = old.type === 'LoadBalancer' && spec.type === 'LoadBalancer'
    if (isBalancer && old.loadBalancerClass !== spec.loadBalancerClass) {
      problems.invalid(SPEC.child('loadBalancerClass'), spec.loadBalancerClass, 'may not change once set')
    }
    const hasPort = needsHealthPort(old) && needsHealthPort(spec)
    if (hasPort && old.healthCheckNodePort !== spec.healthCheckNodePort) {
      problems.forbidden(SPEC.child('healthCheckNodePort'), 'field is immutable')
    }
    return problems.violations
  },
}

function fillDefaults(object: StoredService): StoredService {
  const { sessionAffinityConfig, ...spec } = serviceSpecOf(object)
  const type = spec.type || 'ClusterIP'
  const filled = { ...spec, type }
  return {
    ...object,
    spec: {
      ...filled,
      sessionAffinity: spec.sessionAffinity || 'None',
      ...(spec.sessionAffinity === 'ClientIP' && {
        sessionAffinityConfig: {
          clientIP: { timeoutSeconds: sessionAffinityConfig?.clientIP?.timeoutSeconds ?? SESSION_SECONDS },
        },
      }),
      ...(type !== 'ExternalName' && { internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster' }),
      ...(isReachedFromOutside(filled) && { externalTrafficPolicy: spec.externalTrafficPolicy || 'Cluster' }),
      ...(type === 'LoadBalancer' && { allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts ?? true }),
      ...(spec.ports && { ports: spec.ports.map((port) => ({ ...port, targetPort: port.targetPort || port.port })) }),
    },
  }
}

function withAllocated(object: StoredService, old: ServiceSpec | undefined, context: RequestContext): StoredService {
  const others = context.objects
    .list('services')
    .filter(({ metadata }) => metadata.uid !== object.metadata.uid)
    .map(serviceSpecOf)
  return withNodePorts(withAddresses(object, old, others, context), old, others)
}

function validateAddresses(spec: ServiceSpec, old: ServiceSpec, problems: ProblemList): void {
  if (old.type === 'ExternalName' || spec.type === 'ExternalName') return
  const [after, before] = [spec.clusterIPs ?? [], old.clusterIPs ?? []]
  for (let index = 0; index < Math.min(after.length, before.length); index++) {
    if (after[index] !== before[index])
      problems.invalid(SPEC.child('clusterIPs').index(index), after, 'may not change once set')
  }
  const [families, oldFamilies] = [spec.ipFamilies ?? [], old.ipFamilies ?? []]
  for (let index = 0; index < Math.min(families.length, oldFamilies.length); index++) {
    if (families[index] !== oldFamilies[index])
      problems.invalid(SPEC.child('ipFamilies').index(index), families, 'may not change once set')
  }
}

/** A client that sends a service without its allocated addresses and ports does not mean to release them. */
function keepingAllocated(object: StoredService, old: ServiceSpec): StoredService {
  const spec = serviceSpecOf(object)
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return object
  const { clusterIP, clusterIPs } = old
  const isCleared = !spec.clusterIP && !spec.clusterIPs?.length && clusterIP
  // Who changes the one means the other as well.
  const areListed = Boolean(spec.clusterIPs?.length) && String(spec.clusterIPs) !== String(clusterIPs ?? [])
  const isFollowed = spec.clusterIP !== clusterIP && !areListed
  const kept = isCleared
    ? { clusterIP, clusterIPs }
    : isFollowed && spec.clusterIP
      ? { clusterIPs: [spec.clusterIP] }
      : !spec.clusterIP && spec.clusterIPs?.length
        ? { clusterIP: spec.clusterIPs[0] }
        : !spec.clusterIPs?.length && spec.clusterIP === clusterIP
          ? { clusterIPs }
          : {}
  const isHealthPortKept = needsHealthPort(spec) && needsHealthPort(old) && !spec.healthCheckNodePort
  const used = new Set(spec.ports?.map(({ nodePort }) => nodePort))
  const ports = spec.ports?.map((port) => {
    const same = old.ports?.find(({ name = '' }) => name === (port.name ?? ''))
    const isKept = hasNodePorts(spec.type) && !port.nodePort && same?.nodePort && !used.has(same.nodePort)
    return isKept ? { ...port, nodePort: same.nodePort } : port
  })
  return {
    ...object,
    spec: {
      ...spec,
      ...kept,
      ...(!spec.ipFamilyPolicy && { ipFamilyPolicy: old.ipFamilyPolicy }),
      ...(!spec.ipFamilies?.length && { ipFamilies: old.ipFamilies }),
      ...(isHealthPortKept && { healthCheckNodePort: old.healthCheckNodePort }),
      ...(ports && { ports }),
    },
  }
}

/** Drops the fields that only the previous type of a service has, where the client left them unchanged. */
function withoutLeftovers(object: StoredService, old: ServiceSpec): StoredService {
  const spec = serviceSpecOf(object)
  const dropped: Partial<Record<keyof ServiceSpec, undefined>> = {}
  const drop = (name: keyof ServiceSpec, isForeign: boolean) => {
    if (isForeign && sameValue(spec[name], old[name])) dropped[name] = undefined
  }
  const isName = spec.type === 'ExternalName'
  for (const name of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy'] as const)
    drop(name, isName)
  drop('externalTrafficPolicy', !isReachedFromOutside(spec))
  drop('healthCheckNodePort', !needsHealthPort(spec))
  drop('loadBalancerClass', spec.type !== 'LoadBalancer')
  drop('allocateLoadBalancerNodePorts', spec.type !== 'LoadBalancer')
  const isFreed = hasNodePorts(old.type) && !hasNodePorts(spec.type)
  const ports = spec.ports?.map(({ nodePort, ...port }) => {
    const wasThere = old.ports?.some((each) => each.nodePort === nodePort)
    return isFreed && wasThere ? port : { ...port, ...(nodePort !== undefined && { nodePort }) }
  })
  return { ...object, spec: { ...spec, ...dropped, ...(ports && { ports }) } }
}
