import type { CronJob } from '../../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import { errorMessage } from '../../../../base/telemetry/error-text.ts'
import { parseCronSchedule } from '../../../../model/text/cron-schedule.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { fillJobSpec, validateJobSpec } from './job-rules.ts'
import { fillTemplate } from './pod-template.ts'
import { warnOfName, warnOfTemplate } from '../../warnings/warn-pod.ts'

const SPEC = FieldPath.root.child('spec')
// A Job is named after it, with a number behind.
const LONGEST_NAME = 52

export const cronJobRules: ResourceRules<ObjectOf<CronJob>> = {
  warn: (object, before) => [
    ...(before === undefined ? warnOfName(object.metadata) : []),
    ...warnOfTemplate(
      object.spec.jobTemplate.spec?.template,
      SPEC.child('jobTemplate').child('spec').child('template'),
      { object, before },
    ),
  ],
  fillDefaults: ({ spec, ...job }) => ({
    ...job,
    spec: {
      ...spec,
      concurrencyPolicy: spec.concurrencyPolicy || 'Allow',
      suspend: spec.suspend ?? false,
      successfulJobsHistoryLimit: spec.successfulJobsHistoryLimit ?? 3,
      failedJobsHistoryLimit: spec.failedJobsHistoryLimit ?? 1,
      // The rest of the Job is filled when it is made.
      jobTemplate: {
        ...spec.jobTemplate,
        spec: { ...spec.jobTemplate.spec, template: fillTemplate(spec.jobTemplate.spec?.template) },
      },
    },
  }),
  validate: ({ spec, metadata }) => {
    const problems = new ProblemList()
    const { name = '' } = metadata
    if (name.length > LONGEST_NAME)
      problems.invalid(
        FieldPath.root.child('metadata').child('name'),
        name,
        `must be no more than ${LONGEST_NAME} characters`,
      )
    problems.oneOf(SPEC.child('concurrencyPolicy'), spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace'])
    for (const field of ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'] as const)
      problems.notNegative(SPEC.child(field), spec[field])
    validateSchedule(spec.schedule, problems)
    validateTimeZone(spec.timeZone, problems)
    const template = SPEC.child('jobTemplate').child('spec')
    if (spec.jobTemplate.spec?.selector !== undefined)
      problems.invalid(template.child('selector'), spec.jobTemplate.spec.selector, '`selector` will be auto-generated')
    if (spec.jobTemplate.spec?.manualSelector === true)
      problems.unsupported(template.child('manualSelector'), true, ['nil', 'false'])
    problems.violations.push(...validateJobSpec(fillJobSpec(spec.jobTemplate.spec), template, ''))
    return problems.violations
  },
}

function validateSchedule(schedule: string, problems: ProblemList): void {
  if (!schedule) return problems.required(SPEC.child('schedule'))
  try {
    parseCronSchedule(schedule)
  } catch (error) {
    problems.invalid(SPEC.child('schedule'), schedule, errorMessage(error))
  }
}

function validateTimeZone(timeZone: string | undefined, problems: ProblemList): void {
  if (timeZone === undefined) return
  const path = SPEC.child('timeZone')
  if (timeZone === '' || timeZone.toLowerCase() === 'local')
    return problems.invalid(
      path,
      timeZone,
      'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
    )
  try {
    Intl.DateTimeFormat('en', { timeZone })
  } catch {
    problems.invalid(path, timeZone, `unknown time zone ${timeZone.slice(0, 100)}`)
  }
}
