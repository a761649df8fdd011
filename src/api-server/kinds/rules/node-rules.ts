import type { NodeSpec } from '../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { dnsLabel } from '../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ResourceRules } from '../resource.ts'
import { immutableFields } from './immutable-fields.ts'

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

export const nodeRules: ResourceRules = {
  validate: (object) => {
    const problems = new ProblemList()
    for (const [index, taint] of ((object['spec'] as NodeSpec | undefined)?.taints ?? []).entries()) {
      const path = SPEC.child('taints').index(index)
      if (!taint.key) problems.required(path.child('key'))
      problems.oneOf(path.child('effect'), taint.effect, TAINT_EFFECTS)
    }
    return problems.violations
  },
  validateUpdate: (object, before) => {
    const problems = new ProblemList()
    const [spec, old] = [object['spec'], before['spec']] as (NodeSpec | undefined)[]
    if (old?.podCIDR && spec?.podCIDR !== old.podCIDR) {
      problems.forbidden(SPEC.child('podCIDR'), 'can be set once')
    }
    if (old?.providerID && spec?.providerID !== old.providerID) {
      problems.forbidden(SPEC.child('providerID'), 'can be set once')
    }
    return problems.violations
  },
}

export const runtimeClassRules: ResourceRules = {
  validate: (object) => {
    const problems = new ProblemList()
    problems.name(FieldPath.root.child('handler'), object['handler'] as string | undefined, dnsLabel)
    return problems.violations
  },
  validateUpdate: immutableFields('handler'),
}

export const priorityClassRules: ResourceRules = {
  fillDefaults: (object) => ({
    ...object,
    preemptionPolicy: object['preemptionPolicy'] || 'PreemptLowerPriority',
  }),
  validate: (object) => {
    const problems = new ProblemList()
    const { name = '' } = object.metadata
    const value = Number(object['value'])
    const path = FieldPath.root.child('value')
    if (name.startsWith(SYSTEM_PREFIX) && SYSTEM_PRIORITIES[name] !== value) {
      problems.forbidden(
        FieldPath.root.child('metadata').child('name'),
        `names that begin with "${SYSTEM_PREFIX}" belong to the system`,
      )
    } else if (!name.startsWith(SYSTEM_PREFIX) && value > HIGHEST_USER_PRIORITY) {
      problems.forbidden(path, `must be at most ${HIGHEST_USER_PRIORITY}`)
    }
    problems.oneOf(FieldPath.root.child('preemptionPolicy'), object['preemptionPolicy'] as string, [
      'Never',
      'PreemptLowerPriority',
    ])
    return problems.violations
  },
  validateUpdate: (object, before) => [
    ...immutableFields('value')(object, before),
    ...immutableFields('preemptionPolicy')(object, before),
  ],
}

export const leaseRules: ResourceRules = {
  validate: (object) => {
    const problems = new ProblemList()
    const spec = (object['spec'] ?? {}) as { leaseDurationSeconds?: number; leaseTransitions?: number }
    if (spec.leaseDurationSeconds !== undefined && spec.leaseDurationSeconds <= 0) {
      problems.invalid(SPEC.child('leaseDurationSeconds'), spec.leaseDurationSeconds, 'must be greater than 0')
    }
    problems.notNegative(SPEC.child('leaseTransitions'), spec.leaseTransitions)
    return problems.violations
  },
}
