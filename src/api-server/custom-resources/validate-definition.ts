import { sameValue } from '../../base/document/same-value.ts'
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  SelectableField,
} from '../../model/generated/api-groups.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { dnsSubdomain } from '../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import type { NameRule, Violation } from '../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../store/api-object.ts'
import { propertyOf } from './schema.ts'
import type { Schema } from './schema.ts'
import { validateSchema } from './validate-schema.ts'

type Definition = ObjectOf<CustomResourceDefinition>

const SPEC = FieldPath.root.child('spec')
const NAMES = SPEC.child('names')
const VERSIONS = SPEC.child('versions')
const APPROVAL = 'api-approved.kubernetes.io'
const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const MAX_SELECTABLE = 8

const label: NameRule = (value) =>
  /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(value) && value.length <= 63
    ? undefined
    : "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
const mixedLabel: NameRule = (value) => {
  const why = label(value.toLowerCase())
  return why === undefined ? undefined : `may have mixed case, but should otherwise match: ${why}`
}

/** The rules that a definition breaks. */
export function validateDefinition({ metadata, spec, status }: Definition): readonly Violation[] {
  const problems = new ProblemList()
  if (metadata.name !== `${spec.names.plural}.${spec.group}`) {
    problems.invalid(
      FieldPath.root.child('metadata').child('name'),
      metadata.name,
      'must be spec.names.plural+"."+spec.group',
    )
  }
  if (!spec.group) problems.required(SPEC.child('group'))
  else if (dnsSubdomain(spec.group) !== undefined) problems.matches(SPEC.child('group'), spec.group, dnsSubdomain)
  else if (!spec.group.includes('.'))
    problems.invalid(SPEC.child('group'), spec.group, 'should be a domain with at least one dot')
  problems.oneOf(SPEC.child('scope'), spec.scope, ['Cluster', 'Namespaced'])
  validateNames(spec.names, problems)
  validateConversion(spec, problems)
  if (spec.preserveUnknownFields === true) {
    problems.invalid(
      SPEC.child('preserveUnknownFields'),
      true,
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    )
  }
  validateVersions(spec, problems)
  validateApproval({ metadata, spec }, problems)
  validateStored(spec, status?.storedVersions ?? [], problems)
  return problems.violations
}

function validateNames(
  { plural, singular, kind, listKind, shortNames = [], categories = [] }: CustomResourceDefinitionNames,
  problems: ProblemList,
): void {
  problems.name(NAMES.child('plural'), plural, label)
  problems.name(NAMES.child('singular'), singular, label)
  problems.name(NAMES.child('kind'), kind, mixedLabel)
  problems.name(NAMES.child('listKind'), listKind, mixedLabel)
  if (kind && kind === listKind)
    problems.invalid(NAMES.child('listKind'), listKind, 'kind and listKind may not be the same')
  for (const [index, name] of shortNames.entries())
    problems.matches(NAMES.child('shortNames').index(index), name, label)
  for (const [index, name] of categories.entries())
    problems.matches(NAMES.child('categories').index(index), name, label)
}

function validateConversion({ conversion }: CustomResourceDefinitionSpec, problems: ProblemList): void {
  const path = SPEC.child('conversion')
  const { strategy = '', webhook } = conversion ?? {}
  if (strategy === '') problems.required(path.child('strategy'))
  else if (strategy === 'Webhook') {
    problems.forbidden(
      path.child('strategy'),
      'this server calls no webhooks: give all versions the same shape and use the strategy None, which changes only the apiVersion',
    )
  } else if (strategy !== 'None') problems.unsupported(path.child('strategy'), strategy, ['None', 'Webhook'])
  else if (webhook !== undefined) {
    problems.forbidden(path.child('webhookClientConfig'), 'should not be set when strategy is not set to Webhook')
  }
}

/** What all versions have alike is reported once, as of the whole definition. Parity: the API server keeps it there. */
function placeOf<T>(versions: readonly T[], of: (version: T) => unknown): boolean {
  const [first] = versions
  return first !== undefined && of(first) !== undefined && versions.every((each) => sameValue(of(each), of(first)))
}

function validateVersions(spec: CustomResourceDefinitionSpec, problems: ProblemList): void {
  const { versions } = spec
  const shared = {
    schema: placeOf(versions, ({ schema }) => schema),
    subresources: placeOf(versions, ({ subresources }) => subresources),
    columns: placeOf(versions, ({ additionalPrinterColumns: columns }) => (columns?.length ? columns : undefined)),
    fields: placeOf(versions, ({ selectableFields: fields }) => (fields?.length ? fields : undefined)),
  }
  const seen = new Set<string>()
  for (const [index, version] of versions.entries()) {
    const path = VERSIONS.index(index)
    problems.matches(path.child('name'), version.name, label)
    // Parity: the first one is reported under its old place too.
    if (index === 0) problems.matches(SPEC.child('version'), version.name, label)
    seen.add(version.name)
    validateWarning(version, path, problems)
    if (version.schema?.openAPIV3Schema === undefined) {
      problems.required(path.child('schema').child('openAPIV3Schema'))
    } else if (!shared.schema || index === 0) {
      const at = shared.schema ? SPEC.child('validation') : path.child('schema')
      const hasStatus = (shared.schema ? versions : [version]).some(
        ({ subresources }) => subresources?.status !== undefined,
      )
      problems.violations.push(
        ...validateSchema(version.schema.openAPIV3Schema, hasStatus, at.child('openAPIV3Schema')),
      )
    }
    if (!shared.subresources || index === 0) {
      validateSubresources(version.subresources, (shared.subresources ? SPEC : path).child('subresources'), problems)
    }
    if (!shared.columns || index === 0) {
      const at = (shared.columns ? SPEC : path).child('additionalPrinterColumns')
      for (const [row, column] of (version.additionalPrinterColumns ?? []).entries())
        validateColumn(column, at.index(row), problems)
    }
    if (!shared.fields || index === 0) {
      const at = (shared.fields ? SPEC : path).child('selectableFields')
      validateSelectable(version.selectableFields ?? [], version.schema?.openAPIV3Schema ?? {}, at, problems)
    }
  }
  if (seen.size < versions.length) problems.invalid(VERSIONS, '', 'must contain unique version names')
  if (versions.filter(({ storage }) => storage).length !== 1) {
    problems.invalid(VERSIONS, '', 'must have exactly one version marked as storage version')
  }
}

function validateWarning(
  { deprecated, deprecationWarning: text }: CustomResourceDefinitionVersion,
  path: FieldPath,
  problems: ProblemList,
): void {
  if (text === undefined) return
  const at = path.child('deprecationWarning')
  if (deprecated !== true) problems.invalid(at, text, 'can only be set for deprecated versions')
  else if (text.length > 256) problems.invalid(at, text, 'must be <= 256 characters long')
  else if (text === '') problems.invalid(at, text, 'must not be an empty string')
  else if (/\p{C}/u.test(text)) problems.invalid(at, text, 'must only contain printable UTF-8 characters')
}

function validateSubresources(
  subresources: CustomResourceSubresources | undefined,
  path: FieldPath,
  problems: ProblemList,
): void {
  const { scale } = subresources ?? {}
  if (scale === undefined) return
  const check = (name: string, value: string | undefined, roots: readonly string[]) => {
    const at = path.child(`scale.${name}`)
    if (!value) problems.required(at)
    else if (!value.startsWith('.')) problems.invalid(at, value, 'must be a simple json path starting with .')
    else if (!roots.some((root) => value.startsWith(`.${root}.`))) {
      problems.invalid(at, value, `should be a json path under ${roots.map((root) => `.${root}`).join(' or ')}`)
    }
  }
  check('specReplicasPath', scale.specReplicasPath, ['spec'])
  check('statusReplicasPath', scale.statusReplicasPath, ['status'])
  if (scale.labelSelectorPath) check('labelSelectorPath', scale.labelSelectorPath, ['spec', 'status'])
}

function validateColumn(
  { name, type, format, jsonPath }: CustomResourceColumnDefinition,
  path: FieldPath,
  problems: ProblemList,
): void {
  if (!name) problems.required(path.child('name'))
  const kinds = `must be one of ${COLUMN_TYPES.join(',')}`
  if (!type) problems.required(path.child('type'), kinds)
  else if (!COLUMN_TYPES.includes(type)) problems.invalid(path.child('type'), type, kinds)
  if (format && !COLUMN_FORMATS.includes(format)) {
    problems.invalid(path.child('format'), format, `must be one of ${COLUMN_FORMATS.join(',')}`)
  }
  if (!jsonPath) problems.required(path.child('JSONPath'))
  else if (!jsonPath.startsWith('.'))
    problems.invalid(path.child('JSONPath'), jsonPath, 'must be a simple json path starting with .')
}

function validateSelectable(
  fields: readonly SelectableField[],
  schema: Schema,
  path: FieldPath,
  problems: ProblemList,
): void {
  const seen = new Set<string>()
  for (const [index, { jsonPath }] of fields.entries()) {
    const at = path.index(index).child('jsonPath')
    if (!jsonPath) {
      problems.required(at)
      continue
    }
    const steps = jsonPath.split('.').slice(1)
    const found = steps.reduce<Schema | undefined>((inner, step) => inner && propertyOf(inner, step), schema)
    if (!jsonPath.startsWith('.') || (found === undefined && steps[0] !== 'metadata'))
      problems.invalid(at, jsonPath, 'is an invalid path')
    else if (steps[0] === 'metadata') problems.invalid(at, jsonPath, 'must not point to fields in metadata')
    else if (!['string', 'boolean', 'integer'].includes(found?.type ?? '')) {
      problems.invalid(
        at,
        jsonPath,
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      )
    }
    if (seen.has(jsonPath)) problems.duplicate(at, jsonPath)
    seen.add(jsonPath)
  }
  if (seen.size > MAX_SELECTABLE) problems.tooMany(path, seen.size, MAX_SELECTABLE)
}

/** Groups of Kubernetes belong to it. */
function validateApproval({ metadata, spec }: Pick<Definition, 'metadata' | 'spec'>, problems: ProblemList): void {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec.group)) return
  const at = FieldPath.root.child('metadata').child('annotations').key(APPROVAL)
  const said = metadata.annotations?.[APPROVAL]
  if (said === undefined) {
    problems.required(
      at,
      'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    )
  } else if (!said.startsWith('unapproved') && !(URL.canParse(said) && said.includes('://'))) {
    problems.invalid(at, said, 'must be a URL, or begin with "unapproved"')
  }
}

function validateStored(
  { versions }: CustomResourceDefinitionSpec,
  stored: readonly string[],
  problems: ProblemList,
): void {
  const path = FieldPath.root.child('status').child('storedVersions')
  if (stored.length === 0) problems.invalid(path, stored, 'must have at least one stored version')
  else if (versions.some(({ storage, name }) => storage && !stored.includes(name))) {
    problems.invalid(path, stored, 'must have the storage version')
  }
  for (const [index, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue
    problems.invalid(
      path.index(index),
      name,
      `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
    )
  }
}

/** What may not change: the group and plural never, scope and kind once they are accepted. */
export function validateDefinitionUpdate({ spec }: Definition, before: Definition): readonly Violation[] {
  const problems = new ProblemList()
  const old = before.spec
  const same = (path: FieldPath, value: string, was: string) => {
    if (value !== was) problems.invalid(path, value, 'field is immutable')
  }
  same(SPEC.child('group'), spec.group, old.group)
  same(NAMES.child('plural'), spec.names.plural, old.names.plural)
  const isEstablished = before.status?.conditions?.some(
    ({ type, status }) => type === 'Established' && status === 'True',
  )
  if (isEstablished !== true) return problems.violations
  same(SPEC.child('scope'), spec.scope, old.scope)
  same(NAMES.child('kind'), spec.names.kind, old.names.kind)
  return problems.violations
}
