import type { Job, JobSpec } from '../../../../model/generated/api-groups.ts'
import { sameValue } from '../../../../base/document/same-value.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { dnsLabel } from '../../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import { validateLabelSelector } from '../../../../model/schema/validation/validate-selectors.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { immutableSpecFields } from '../immutable-fields.ts'
import { validateFailurePolicy, validateSuccessPolicy } from './job-policies.ts'
import { fillTemplate, validateTemplate } from './pod-template.ts'
import { warnOfName, warnOfTemplate } from '../../warnings/warn-pod.ts'

type StoredJob = ObjectOf<Job>

const SPEC = FieldPath.root.child('spec')
const NO_LIMIT = 2 ** 31 - 1
const MOST_PARALLEL_INDEXES = 100_000
const IMMUTABLE = [
  'backoffLimitPerIndex',
  'completionMode',
  'managedBy',
  'podFailurePolicy',
  'selector',
  'successPolicy',
] as const

export const jobRules: ResourceRules<StoredJob> = {
  warn: (object, before) => [
    ...(before === undefined ? warnOfName(object.metadata) : []),
    ...warnOfTemplate(object.spec?.template, SPEC.child('template'), { object, before }),
  ],
  orphansDependents: true,
  fillDefaults: ({ spec, metadata, ...job }) => {
    const filled = fillJobSpec(spec)
    const labels = metadata.labels ?? filled.template.metadata?.labels
    return { ...job, metadata: { ...metadata, ...(labels && { labels }) }, spec: filled }
  },
  prepareCreate: (job) => ({ ...withSelector(job), status: {} }),
  validate: (job) => validateJobSpec(job.spec ?? { template: {} }, SPEC, job.metadata.name ?? ''),
  validateUpdate: ({ spec }, { spec: old, status }) => {
    const problems = new ProblemList()
    const [now, before] = [spec ?? { template: {} }, old ?? { template: {} }]
    validateCompletions(now, before, problems)
    // What a suspended Job has not started yet may still change where it is to run.
    const isOpen = before.suspend === true && (status?.active ?? 0) === 0 && status?.startTime === undefined
    if (!isOpen && !sameValue(now.template, before.template))
      problems.invalid(SPEC.child('template'), now.template, 'field is immutable')
    return [...problems.violations, ...immutableSpecFields(IMMUTABLE)({ spec: { ...now } }, { spec: { ...before } })]
  },
  validateStatus: ({ status = {} }, { status: old = {} }) => {
    const problems = new ProblemList()
    const path = FieldPath.root.child('status')
    for (const name of ['succeeded', 'failed'] as const) {
      if ((status[name] ?? 0) < (old[name] ?? 0))
        problems.invalid(path.child(name), status[name] ?? 0, 'cannot decrease')
    }
    for (const type of ['Complete', 'Failed']) {
      const isTrue = ({ conditions = [] }: typeof status) =>
        conditions.some((each) => each.type === type && each.status === 'True')
      if (isTrue(old) && !isTrue(status)) problems.invalid(path.child('conditions'), type, 'cannot be undone')
    }
    return problems.violations
  },
}

export function fillJobSpec(spec: JobSpec = { template: {} }): JobSpec {
  const hasNone = spec.completions === undefined && spec.parallelism === undefined
  return {
    ...spec,
    ...(hasNone && { completions: 1 }),
    parallelism: spec.parallelism ?? 1,
    backoffLimit: spec.backoffLimit ?? (spec.backoffLimitPerIndex === undefined ? 6 : NO_LIMIT),
    completionMode: spec.completionMode || 'NonIndexed',
    suspend: spec.suspend ?? false,
    manualSelector: spec.manualSelector ?? false,
    podReplacementPolicy: spec.podReplacementPolicy || (spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed'),
    ...(spec.podFailurePolicy && {
      podFailurePolicy: {
        rules: spec.podFailurePolicy.rules.map(({ onPodConditions, ...rule }) => ({
          ...rule,
          ...(onPodConditions && {
            onPodConditions: onPodConditions.map((pattern) => ({ ...pattern, status: pattern.status || 'True' })),
          }),
        })),
      },
    }),
    template: fillTemplate(spec.template),
  }
}

/** A Job selects its pods by its own UID, unless its user takes that over. */
function withSelector(job: StoredJob): StoredJob {
  const { spec, metadata } = job
  if (spec === undefined || spec.manualSelector === true) return job
  const { uid = '', name = '' } = metadata
  const labels = {
    ...spec.template.metadata?.labels,
    'controller-uid': uid,
    'job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
  }
  // A Job without labels has those of its pods, also these.
  const isWithout = metadata.labels === undefined || sameValue(metadata.labels, spec.template.metadata?.labels)
  const ownLabels = isWithout ? labels : metadata.labels
  return {
    ...job,
    metadata: { ...metadata, labels: ownLabels },
    spec: {
      ...spec,
      selector: { ...spec.selector, matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  }
}

export function validateJobSpec(spec: JobSpec, path: FieldPath, name: string) {
  const problems = new ProblemList()
  for (const field of [
    'activeDeadlineSeconds',
    'backoffLimit',
    'backoffLimitPerIndex',
    'completions',
    'maxFailedIndexes',
    'parallelism',
    'ttlSecondsAfterFinished',
  ] as const)
    problems.notNegative(path.child(field), spec[field])
  problems.oneOf(path.child('completionMode'), spec.completionMode, ['Indexed', 'NonIndexed'])
  problems.oneOf(path.child('podReplacementPolicy'), spec.podReplacementPolicy, ['Failed', 'TerminatingOrFailed'])
  validateIndexed(spec, path, name, problems)
  if (spec.selector) validateLabelSelector(spec.selector, path.child('selector'), problems)
  if (spec.podFailurePolicy) validateFailurePolicy(spec, path.child('podFailurePolicy'), problems)
  if (spec.successPolicy) validateSuccessPolicy(spec, path.child('successPolicy'), problems)
  validateTemplate(spec.template, path.child('template'), ['Never', 'OnFailure'], problems)
  return problems.violations
}

function validateIndexed(spec: JobSpec, path: FieldPath, name: string, problems: ProblemList): void {
  const { completions, completionMode, parallelism = 1, backoffLimitPerIndex, maxFailedIndexes } = spec
  const isIndexed = completionMode === 'Indexed'
  if (isIndexed && completions === undefined)
    problems.required(path.child('completions'), 'when completion mode is Indexed')
  if (isIndexed && parallelism > MOST_PARALLEL_INDEXES)
    problems.invalid(path.child('parallelism'), parallelism, `must be less than or equal to ${MOST_PARALLEL_INDEXES}`)
  if (isIndexed && name !== '' && (completions ?? 0) > 0 && dnsLabel(`${name}-${(completions ?? 1) - 1}`) !== undefined)
    problems.invalid(
      FieldPath.root.child('metadata').child('name'),
      name,
      'with an index behind it must be a DNS label',
    )
  if (backoffLimitPerIndex !== undefined && !isIndexed)
    problems.invalid(path.child('backoffLimitPerIndex'), backoffLimitPerIndex, 'requires indexed completion mode')
  if (maxFailedIndexes === undefined) return
  if (backoffLimitPerIndex === undefined)
    problems.required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified')
  if (maxFailedIndexes > (completions ?? 0))
    problems.invalid(path.child('maxFailedIndexes'), maxFailedIndexes, 'must be less than or equal to completions')
}

/** An indexed Job can grow or shrink, together with its parallelism; no other can. */
function validateCompletions(now: JobSpec, before: JobSpec, problems: ProblemList): void {
  if (now.completions === before.completions) return
  const isElastic = now.completionMode === 'Indexed' && now.completions === now.parallelism
  if (!isElastic || before.completions !== before.parallelism)
    problems.invalid(SPEC.child('completions'), now.completions, 'field is immutable')
}
