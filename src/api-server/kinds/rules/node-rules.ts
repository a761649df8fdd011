import { isIP } from 'node:net'
import type { Lease, PriorityClass, RuntimeClass } from '../../../model/generated/api-groups.ts'
import type { Node } from '../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { dnsLabel, qualifiedName } from '../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import type { ResourceRules } from '../resource.ts'
import { immutablePart } from './immutable-fields.ts'

const SPEC = FieldPath.root.child('spec')
// Above it are the classes of the system.
const HIGHEST_USER_PRIORITY = 1_000_000_000
const SYSTEM_PREFIX = 'system-'
const TAINT_EFFECTS = ['NoExecute', 'NoSchedule', 'PreferNoSchedule']

/** The two classes that every cluster has, and their values. */
export const SYSTEM_PRIORITIES: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
}

export const nodeRules: ResourceRules<ObjectOf<Node>> = {
  fillDefaults: (node) => {
    const { podCIDR, podCIDRs } = node.spec ?? {}
    if (podCIDR && !podCIDRs?.length) return { ...node, spec: { ...node.spec, podCIDRs: [podCIDR] } }
    return podCIDRs?.[0] && !podCIDR ? { ...node, spec: { ...node.spec, podCIDR: podCIDRs[0] } } : node
  },
  validate: ({ spec }) => {
    const problems = new ProblemList()
    const taints = new Set<string>()
    for (const [index, taint] of (spec?.taints ?? []).entries()) {
      const path = SPEC.child('taints').index(index)
      if (!taint.key) problems.required(path.child('key'))
      else problems.matches(path.child('key'), taint.key, qualifiedName)
      problems.oneOf(path.child('effect'), taint.effect, TAINT_EFFECTS)
      if (taints.has(`${taint.key}:${taint.effect}`)) problems.duplicate(path, taint.key)
      taints.add(`${taint.key}:${taint.effect}`)
    }
    for (const [index, range] of (spec?.podCIDRs ?? []).entries()) {
      const [address = '', bits] = range.split('/')
      if (isIP(address) !== 0 && /^\d{1,3}$/.test(bits ?? '')) continue
      problems.invalid(SPEC.child('podCIDRs').index(index), range, 'must be a range of addresses, as in 10.0.0.0/24')
    }
    return problems.violations
  },
  validateUpdate: ({ spec }, { spec: old }) => {
    const problems = new ProblemList()
    if (old?.podCIDR && spec?.podCIDR !== old.podCIDR) {
      problems.forbidden(SPEC.child('podCIDR'), 'can be set once')
    }
    if (old?.providerID && spec?.providerID !== old.providerID) {
      problems.forbidden(SPEC.child('providerID'), 'can be set once')
    }
    return problems.violations
  },
}

export const runtimeClassRules: ResourceRules<ObjectOf<RuntimeClass>> = {
  validate: ({ handler }) => {
    const problems = new ProblemList()
    problems.name(FieldPath.root.child('handler'), handler, dnsLabel)
    return problems.violations
  },
  validateUpdate: immutablePart('handler'),
}

export const priorityClassRules: ResourceRules<ObjectOf<PriorityClass>> = {
  fillDefaults: (priorityClass) => ({
    ...priorityClass,
    preemptionPolicy: priorityClass.preemptionPolicy || 'PreemptLowerPriority',
  }),
  validate: ({ metadata, value, preemptionPolicy }) => {
    const problems = new ProblemList()
    const { name = '' } = metadata
    const path = FieldPath.root.child('value')
    if (name.startsWith(SYSTEM_PREFIX) && SYSTEM_PRIORITIES[name] !== value) {
      problems.forbidden(
        FieldPath.root.child('metadata').child('name'),
        `names that begin with "${SYSTEM_PREFIX}" belong to the system`,
      )
    } else if (!name.startsWith(SYSTEM_PREFIX) && value > HIGHEST_USER_PRIORITY) {
      problems.forbidden(path, `must be at most ${HIGHEST_USER_PRIORITY}`)
    }
    problems.oneOf(FieldPath.root.child('preemptionPolicy'), preemptionPolicy, ['Never', 'PreemptLowerPriority'])
    return problems.violations
  },
  validateUpdate: (priorityClass, before) => [
    ...immutablePart('value')(priorityClass, before),
    ...immutablePart('preemptionPolicy')(priorityClass, before),
  ],
}

export const leaseRules: ResourceRules<ObjectOf<Lease>> = {
  validate: ({ spec = {} }) => {
    const problems = new ProblemList()
    if (spec.leaseDurationSeconds !== undefined && spec.leaseDurationSeconds <= 0) {
      problems.invalid(SPEC.child('leaseDurationSeconds'), spec.leaseDurationSeconds, 'must be greater than 0')
    }
    problems.notNegative(SPEC.child('leaseTransitions'), spec.leaseTransitions)
    return problems.violations
  },
}
