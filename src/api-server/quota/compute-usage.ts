import type {
  PersistentVolumeClaim,
  Pod,
  ResourceQuotaSpec,
  ScopedResourceSelectorRequirement,
  Service,
} from '../../model/generated/core-v1.ts'
import { computeHeldPod } from '../../model/resources/compute-held-pod.ts'
import { computePodLimits, computePodRequests } from '../../model/resources/compute-pod-requests.ts'
import { computeQosClass } from '../../model/resources/compute-qos-class.ts'
import { hugepageSize } from '../../model/resources/hugepage-sizes.ts'
import { isExtendedResource } from '../../model/resources/is-extended-resource.ts'
import { parseQuantity, tryParseQuantity } from '../../model/resources/quantity.ts'
import type { Quantity } from '../../model/resources/quantity.ts'
import type { ApiObject, ObjectOf } from '../store/api-object.ts'

/** What is used of each resource that a quota can limit. */
export type QuotaUsage = ReadonlyMap<string, Quantity>

const ONE = parseQuantity('1')
/** Kinds of the core group that are counted by their name alone too. */
const COUNTED = [
  'configmaps',
  'secrets',
  'services',
  'persistentvolumeclaims',
  'replicationcontrollers',
  'resourcequotas',
]

/** What one object uses; the name of its resource is the one that it is stored under. */
export function computeUsage(storage: string, object: ApiObject): QuotaUsage {
  const usage = new Map<string, Quantity>([[`count/${storage}`, ONE]])
  if (COUNTED.includes(storage)) usage.set(storage, ONE)
  if (storage === 'pods') addPod(usage, object as ObjectOf<Pod>)
  if (storage === 'services') addService(usage, object as ObjectOf<Service>)
  if (storage === 'persistentvolumeclaims') addClaim(usage, object as ObjectOf<PersistentVolumeClaim>)
  return usage
}

/** With its overhead, and with what it says for all of its containers together in place of what they say. */
function addPod(usage: Map<string, Quantity>, pod: ObjectOf<Pod>): void {
  const { spec, status } = pod
  if (isTerminal(pod) || spec === undefined) return
  const held = computeHeldPod({ spec, status })
  usage.set('pods', ONE)
  for (const [name, amount] of computePodRequests(held, { overhead: true })) {
    if (isCompute(name)) usage.set(name, amount)
    if (isCompute(name) || isExtendedResource(name)) usage.set(`requests.${name}`, amount)
  }
  for (const [name, amount] of computePodLimits(held, { overhead: true }))
    if (isCompute(name)) usage.set(`limits.${name}`, amount)
}

function isCompute(name: string): boolean {
  return ['cpu', 'memory', 'ephemeral-storage'].includes(name) || hugepageSize(name) !== undefined
}

function isTerminal({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

function addService(usage: Map<string, Quantity>, { spec }: Service): void {
  const ports = spec?.ports ?? []
  const isBalanced = spec?.type === 'LoadBalancer'
  const given =
    isBalanced && spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort) : ports
  usage.set('services.loadbalancers', parseQuantity(isBalanced ? '1' : '0'))
  usage.set('services.nodeports', parseQuantity(String(isBalanced || spec?.type === 'NodePort' ? given.length : 0)))
}

function addClaim(usage: Map<string, Quantity>, { spec }: PersistentVolumeClaim): void {
  const size = tryParseQuantity(spec?.resources?.requests?.['storage'] ?? '')
  if (size !== undefined) usage.set('requests.storage', size)
  const name = spec?.storageClassName
  if (!name) return
  usage.set(`${name}.storageclass.storage.k8s.io/persistentvolumeclaims`, ONE)
  if (size !== undefined) usage.set(`${name}.storageclass.storage.k8s.io/requests.storage`, size)
}

export function addUsage(total: Map<string, Quantity>, more: QuotaUsage): void {
  for (const [name, { nanos, format }] of more) {
    const before = total.get(name)
    total.set(name, { nanos: nanos + (before?.nanos ?? 0n), format: before?.format ?? format })
  }
}

/** Whether a quota is about an object: all of its scopes fit. Only pods have scopes here. */
export function isInScope(
  storage: string,
  object: ApiObject,
  { scopes = [], scopeSelector }: ResourceQuotaSpec,
): boolean {
  const requirements: readonly ScopedResourceSelectorRequirement[] = [
    ...scopes.map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(scopeSelector?.matchExpressions ?? []),
  ]
  if (requirements.length === 0) return true
  return storage === 'pods' && requirements.every((requirement) => fitsScope(object as ObjectOf<Pod>, requirement))
}

function fitsScope(
  pod: ObjectOf<Pod>,
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement,
): boolean {
  const { spec } = pod
  switch (scopeName) {
    case 'Terminating':
      return spec?.activeDeadlineSeconds !== undefined
    case 'NotTerminating':
      return spec?.activeDeadlineSeconds === undefined
    case 'BestEffort':
      return spec !== undefined && computeQosClass({ spec }) === 'BestEffort'
    case 'NotBestEffort':
      return spec !== undefined && computeQosClass({ spec }) !== 'BestEffort'
    case 'PriorityClass':
      return fitsOperator(spec?.priorityClassName, operator, values)
    case 'CrossNamespacePodAffinity':
      return crossesNamespaces(pod)
    default:
      return false
  }
}

function fitsOperator(value: string | undefined, operator: string, values: readonly string[]): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined && value !== ''
    default:
      return value === undefined || value === ''
  }
}

function crossesNamespaces({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {}
  return [podAffinity, podAntiAffinity].some((affinity) =>
    [
      ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
        ({ podAffinityTerm }) => podAffinityTerm,
      ),
    ].some(({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined),
  )
}
