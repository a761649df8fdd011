import type { Deployment, DeploymentSpec, DeploymentStrategy } from '../../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { immutableSpecFields } from '../immutable-fields.ts'
import { fillTemplate, isZero, validateIntOrPercent, validateWorkload } from './pod-template.ts'
import { validateReplicaCounts } from './replica-set-rules.ts'
import { warnOfName, warnOfTemplate } from '../../warnings/warn-pod.ts'

const SPEC = FieldPath.root.child('spec')
const DEFAULT_STEP = '25%'

export const deploymentRules: ResourceRules<ObjectOf<Deployment>> = {
  warn: (object, before) => [
    ...(before === undefined ? warnOfName(object.metadata) : []),
    ...warnOfTemplate(object.spec?.template, SPEC.child('template'), { object, before }),
  ],
  fillDefaults: ({ spec, ...deployment }) => ({ ...deployment, spec: fillSpec(spec) }),
  validate: ({ spec }) => {
    const problems = new ProblemList()
    if (spec === undefined) return problems.violations
    problems.notNegative(SPEC.child('replicas'), spec.replicas)
    problems.notNegative(SPEC.child('minReadySeconds'), spec.minReadySeconds)
    problems.notNegative(SPEC.child('revisionHistoryLimit'), spec.revisionHistoryLimit)
    problems.notNegative(SPEC.child('progressDeadlineSeconds'), spec.progressDeadlineSeconds)
    if ((spec.progressDeadlineSeconds ?? 0) <= (spec.minReadySeconds ?? 0)) {
      const path = SPEC.child('progressDeadlineSeconds')
      problems.invalid(path, spec.progressDeadlineSeconds, 'must be greater than minReadySeconds')
    }
    validateStrategy(spec.strategy ?? {}, problems)
    validateWorkload(spec, problems)
    return problems.violations
  },
  validateUpdate: (object, before) =>
    immutableSpecFields(['selector'])({ spec: { ...object.spec } }, { spec: { ...before.spec } }),
  validateStatus: ({ status = {} }, { status: old = {} }) => {
    const problems = new ProblemList()
    validateReplicaCounts(status, problems)
    if ((status.collisionCount ?? 0) < (old.collisionCount ?? 0)) {
      const path = FieldPath.root.child('status').child('collisionCount')
      problems.invalid(path, status.collisionCount, 'cannot be decremented')
    }
    return problems.violations
  },
}

function fillSpec(spec: DeploymentSpec | undefined): DeploymentSpec {
  return {
    ...spec,
    selector: spec?.selector ?? {},
    template: fillTemplate(spec?.template),
    replicas: spec?.replicas ?? 1,
    strategy: fillStrategy(spec?.strategy ?? {}),
    revisionHistoryLimit: spec?.revisionHistoryLimit ?? 10,
    progressDeadlineSeconds: spec?.progressDeadlineSeconds ?? 600,
  }
}

function fillStrategy(strategy: DeploymentStrategy): DeploymentStrategy {
  const type = strategy.type || 'RollingUpdate'
  if (type !== 'RollingUpdate') return { ...strategy, type }
  const { maxSurge = DEFAULT_STEP, maxUnavailable = DEFAULT_STEP } = strategy.rollingUpdate ?? {}
  return { type, rollingUpdate: { maxSurge, maxUnavailable } }
}

function validateStrategy({ type, rollingUpdate }: DeploymentStrategy, problems: ProblemList): void {
  const path = SPEC.child('strategy')
  problems.oneOf(path.child('type'), type, ['Recreate', 'RollingUpdate'])
  const rolling = path.child('rollingUpdate')
  if (type === 'Recreate' && rollingUpdate !== undefined)
    problems.forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'")
  if (type !== 'RollingUpdate' || rollingUpdate === undefined) return
  validateIntOrPercent(rollingUpdate.maxUnavailable, rolling.child('maxUnavailable'), 100, problems)
  validateIntOrPercent(rollingUpdate.maxSurge, rolling.child('maxSurge'), undefined, problems)
  if (isZero(rollingUpdate.maxUnavailable) && isZero(rollingUpdate.maxSurge)) {
    const why = 'may not be 0 when `maxSurge` is 0'
    problems.invalid(rolling.child('maxUnavailable'), rollingUpdate.maxUnavailable, why)
  }
}
