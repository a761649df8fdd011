import { sameValue } from '../../../../base/document/same-value.ts'
import type { StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy } from '../../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { dnsLabel } from '../../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { fillTemplate, validateWorkload } from './pod-template.ts'
import { validateReplicaCounts } from './replica-set-rules.ts'
import { warnOfTemplate } from '../../warnings/warn-pod.ts'
import { warnOfClaimSpec } from '../../warnings/warn-storage.ts'

const SPEC = FieldPath.root.child('spec')
const KEEPS_ALL_REVISIONS =
  'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended'
const MUTABLE: readonly (keyof StatefulSetSpec)[] = [
  'minReadySeconds',
  'ordinals',
  'persistentVolumeClaimRetentionPolicy',
  'replicas',
  'revisionHistoryLimit',
  'template',
  'updateStrategy',
]

export const statefulSetRules: ResourceRules<ObjectOf<StatefulSet>> = {
  warn: (object, before) => [
    ...warnOfTemplate(object.spec?.template, SPEC.child('template'), { object, before }),
    ...(object.spec?.volumeClaimTemplates ?? []).flatMap(({ spec }, index) =>
      warnOfClaimSpec(spec, SPEC.child('volumeClaimTemplates').index(index)),
    ),
    ...((object.spec?.revisionHistoryLimit ?? 0) < 0 ? [KEEPS_ALL_REVISIONS] : []),
  ],
  fillDefaults: ({ spec, ...set }) => ({ ...set, spec: fillSpec(spec) }),
  prepareCreate: (set) => ({ ...set, status: { replicas: 0 } }),
  validate: ({ spec }) => {
    const problems = new ProblemList()
    if (spec === undefined) return problems.violations
    problems.notNegative(SPEC.child('replicas'), spec.replicas)
    problems.notNegative(SPEC.child('minReadySeconds'), spec.minReadySeconds)
    problems.notNegative(SPEC.child('revisionHistoryLimit'), spec.revisionHistoryLimit)
    problems.notNegative(SPEC.child('ordinals').child('start'), spec.ordinals?.start)
    problems.oneOf(SPEC.child('podManagementPolicy'), spec.podManagementPolicy, ['OrderedReady', 'Parallel'])
    validateStrategy(spec.updateStrategy ?? {}, problems)
    const retention = SPEC.child('persistentVolumeClaimRetentionPolicy')
    for (const when of ['whenDeleted', 'whenScaled'] as const)
      problems.oneOf(retention.child(when), spec.persistentVolumeClaimRetentionPolicy?.[when], ['Delete', 'Retain'])
    for (const [index, { metadata }] of (spec.volumeClaimTemplates ?? []).entries())
      problems.name(
        SPEC.child('volumeClaimTemplates').index(index).child('metadata').child('name'),
        metadata?.name,
        dnsLabel,
      )
    validateWorkload({ ...spec, template: withClaims(spec) }, problems)
    return problems.violations
  },
  validateUpdate: ({ spec }, { spec: old }) => {
    const problems = new ProblemList()
    const kept = Object.fromEntries(MUTABLE.map((field) => [field, undefined]))
    if (!sameValue({ ...spec, ...kept }, { ...old, ...kept })) {
      const names = MUTABLE.map((field) => `'${field}'`).join(', ')
      problems.forbidden(SPEC, `updates to statefulset spec for fields other than ${names} are forbidden`)
    }
    return problems.violations
  },
  validateStatus: ({ status }) => {
    const problems = new ProblemList()
    validateReplicaCounts(status ?? {}, problems)
    return problems.violations
  },
}

/** The template as its pods will be: with the volumes of their claims, which take the place of others of the name. */
function withClaims({ template, volumeClaimTemplates = [] }: StatefulSetSpec): StatefulSetSpec['template'] {
  const names = volumeClaimTemplates.map(({ metadata }) => metadata?.name ?? '')
  if (names.length === 0 || template.spec === undefined) return template
  const others = (template.spec.volumes ?? []).filter(({ name }) => !names.includes(name))
  const claims = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }))
  return { ...template, spec: { ...template.spec, volumes: [...others, ...claims] } }
}

function fillSpec(spec: StatefulSetSpec | undefined): StatefulSetSpec {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = spec?.persistentVolumeClaimRetentionPolicy ?? {}
  return {
    ...spec,
    selector: spec?.selector ?? {},
    template: fillTemplate(spec?.template),
    replicas: spec?.replicas ?? 1,
    podManagementPolicy: spec?.podManagementPolicy || 'OrderedReady',
    updateStrategy: fillStrategy(spec?.updateStrategy ?? {}),
    revisionHistoryLimit: spec?.revisionHistoryLimit ?? 10,
    persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
    ...(spec?.volumeClaimTemplates && {
      volumeClaimTemplates: spec.volumeClaimTemplates.map((claim) => ({
        ...claim,
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        spec: { ...claim.spec, volumeMode: claim.spec?.volumeMode || 'Filesystem' },
        status: { phase: 'Pending' },
      })),
    }),
  }
}

/** How many may be unavailable is not asked for: the feature is off in this version of Kubernetes. */
function fillStrategy(strategy: StatefulSetUpdateStrategy): StatefulSetUpdateStrategy {
  const type = strategy.type || 'RollingUpdate'
  if (type !== 'RollingUpdate') return { ...strategy, type }
  return { type, rollingUpdate: { partition: strategy.rollingUpdate?.partition ?? 0 } }
}

function validateStrategy({ type, rollingUpdate }: StatefulSetUpdateStrategy, problems: ProblemList): void {
  const path = SPEC.child('updateStrategy')
  problems.oneOf(path.child('type'), type, ['OnDelete', 'RollingUpdate'])
  if (type === 'OnDelete' && rollingUpdate !== undefined)
    problems.invalid(path.child('rollingUpdate'), rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")
  problems.notNegative(path.child('rollingUpdate').child('partition'), rollingUpdate?.partition)
}
