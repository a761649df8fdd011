import type { StorageClass } from '../../../model/generated/api-groups.ts'
import { sameValue } from '../../../base/document/same-value.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { labelValue, qualifiedName } from '../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import type { ResourceRules } from '../resource.ts'
import { immutablePart } from './immutable-fields.ts'

const ROOT = FieldPath.root
const MOST_PARAMETERS = 512
const MOST_PARAMETER_BYTES = 256 * 1024

export const storageClassRules: ResourceRules<ObjectOf<StorageClass>> = {
  fillDefaults: (storageClass) => ({
    ...storageClass,
    reclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
    volumeBindingMode: storageClass.volumeBindingMode ?? 'Immediate',
  }),
  validate: (storageClass) => {
    const problems = new ProblemList()
    const { provisioner, parameters = {}, reclaimPolicy, volumeBindingMode, allowedTopologies = [] } = storageClass
    if (!provisioner) problems.required(ROOT.child('provisioner'))
    else if (qualifiedName(provisioner.toLowerCase()) !== undefined)
      problems.matches(ROOT.child('provisioner'), provisioner, qualifiedName)
    validateParameters(parameters, problems)
    if (reclaimPolicy) problems.oneOf(ROOT.child('reclaimPolicy'), reclaimPolicy, ['Delete', 'Retain'])
    problems.oneOf(ROOT.child('volumeBindingMode'), volumeBindingMode, ['Immediate', 'WaitForFirstConsumer'])
    validateTopologies(allowedTopologies, problems)
    return problems.violations
  },
  validateUpdate: (storageClass, before) =>
    (['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const).flatMap((part) =>
      immutablePart(part)(storageClass, before),
    ),
}

function validateParameters(parameters: Readonly<Record<string, string>>, problems: ProblemList): void {
  const path = ROOT.child('parameters')
  const entries = Object.entries(parameters)
  if (entries.length > MOST_PARAMETERS) return problems.tooLong(path, MOST_PARAMETERS)
  if (entries.some(([name]) => name === '')) problems.invalid(path, '', 'field can not be empty.')
  const bytes = entries.reduce((total, [name, value]) => total + Buffer.byteLength(name) + Buffer.byteLength(value), 0)
  if (bytes > MOST_PARAMETER_BYTES) problems.tooLong(path, MOST_PARAMETER_BYTES)
}

function validateTopologies(topologies: NonNullable<StorageClass['allowedTopologies']>, problems: ProblemList): void {
  for (const [index, { matchLabelExpressions = [] }] of topologies.entries()) {
    const path = ROOT.child('allowedTopologies').index(index).child('matchLabelExpressions')
    for (const [position, { key, values }] of matchLabelExpressions.entries()) {
      const at = path.index(position)
      problems.name(at.child('key'), key, qualifiedName)
      if (values.length === 0) problems.required(at.child('values'))
      for (const [place, value] of values.entries()) {
        problems.matches(at.child('values').index(place), value, labelValue)
        if (values.indexOf(value) !== place) problems.duplicate(at.child('values').index(place), value)
      }
      if (matchLabelExpressions.findIndex((other) => other.key === key) !== position)
        problems.duplicate(at.child('key'), key)
    }
    const first = topologies.findIndex((other) => sameValue(other.matchLabelExpressions ?? [], matchLabelExpressions))
    if (first !== index) problems.duplicate(path, '')
  }
}
