import { sameValue } from '../../../../base/document/same-value.ts'
import type { DaemonSet, DaemonSetUpdateStrategy } from '../../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { immutableSpecFields } from '../immutable-fields.ts'
import { fillTemplate, isZero, validateIntOrPercent, validateWorkload } from './pod-template.ts'
import { warnOfTemplate } from '../../warnings/warn-pod.ts'

type StoredSet = ObjectOf<DaemonSet>

const SPEC = FieldPath.root.child('spec')
/** Counts the templates; the API's own to say. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

export const daemonSetRules: ResourceRules<StoredSet> = {
  warn: (object, before) => warnOfTemplate(object.spec?.template, SPEC.child('template'), { object, before }),
  fillDefaults: ({ spec, ...set }) => ({
    ...set,
    spec: {
      ...spec,
      selector: spec?.selector ?? {},
      template: fillTemplate(spec?.template),
      updateStrategy: fillStrategy(spec?.updateStrategy ?? {}),
      revisionHistoryLimit: spec?.revisionHistoryLimit ?? 10,
    },
  }),
  prepareCreate: (set) => ({
    ...withTemplateGeneration(set, 1),
    status: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
  }),
  prepareUpdate: (set, before) => {
    const generation = Number(before.metadata.annotations?.[TEMPLATE_GENERATION] ?? 1)
    const isSame = sameValue(set.spec?.template, before.spec?.template)
    return withTemplateGeneration(set, isSame ? generation : generation + 1)
  },
  validate: ({ spec }) => {
    const problems = new ProblemList()
    problems.notNegative(SPEC.child('minReadySeconds'), spec?.minReadySeconds)
    problems.notNegative(SPEC.child('revisionHistoryLimit'), spec?.revisionHistoryLimit)
    validateStrategy(spec?.updateStrategy ?? {}, problems)
    validateWorkload(spec ?? {}, problems)
    return problems.violations
  },
  validateUpdate: (object, before) =>
    immutableSpecFields(['selector'])({ spec: { ...object.spec } }, { spec: { ...before.spec } }),
}

function withTemplateGeneration(set: StoredSet, generation: number): StoredSet {
  const annotations = { ...set.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) }
  return { ...set, metadata: { ...set.metadata, annotations } }
}

function fillStrategy(strategy: DaemonSetUpdateStrategy): DaemonSetUpdateStrategy {
  const type = strategy.type || 'RollingUpdate'
  if (type !== 'RollingUpdate') return { ...strategy, type }
  const { maxUnavailable = 1, maxSurge = 0 } = strategy.rollingUpdate ?? {}
  return { type, rollingUpdate: { maxUnavailable, maxSurge } }
}

function validateStrategy({ type, rollingUpdate }: DaemonSetUpdateStrategy, problems: ProblemList): void {
  const path = SPEC.child('updateStrategy')
  problems.oneOf(path.child('type'), type, ['OnDelete', 'RollingUpdate'])
  if (type !== 'RollingUpdate' || rollingUpdate === undefined) return
  const { maxUnavailable, maxSurge } = rollingUpdate
  const rolling = path.child('rollingUpdate')
  validateIntOrPercent(maxUnavailable, rolling.child('maxUnavailable'), 100, problems)
  validateIntOrPercent(maxSurge, rolling.child('maxSurge'), 100, problems)
  if (isZero(maxUnavailable) && isZero(maxSurge))
    problems.required(rolling.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0')
  if (!isZero(maxUnavailable) && !isZero(maxSurge))
    problems.invalid(rolling.child('maxSurge'), maxSurge, 'may not be set when maxUnavailable is non-zero')
}
