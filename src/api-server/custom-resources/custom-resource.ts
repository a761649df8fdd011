import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionVersion,
} from '../../model/generated/api-groups.ts'
import { dnsSubdomain } from '../../model/schema/validation/name-rules.ts'
import { forbidden } from '../api-error.ts'
import type { Resource, Subresource } from '../kinds/resource.ts'
import { CUSTOM_RESOURCE_VERBS } from '../kinds/verb-lists.ts'
import type { ApiObject, ObjectOf } from '../store/api-object.ts'
import { customColumns } from './custom-columns.ts'
import { customScale, readAt } from './custom-scale.ts'
import type { Schema } from './schema.ts'
import { fillObject, pruneObject } from './shape-value.ts'
import { validateExtensions, validateValue } from './validate-value.ts'

type Definition = ObjectOf<CustomResourceDefinition>

/** A custom resource in one of its versions, as any other resource of the API. */
export function toResource(definition: Definition, version: CustomResourceDefinitionVersion): Resource {
  const { group, scope, versions } = definition.spec
  const names: CustomResourceDefinitionNames = definition.status?.acceptedNames ?? definition.spec.names
  const schema: Schema = version.schema?.openAPIV3Schema ?? {}
  const stored = versions.find(({ storage }) => storage) ?? version
  // What is read is what the schema of the stored version has of it, in whatever version it is asked for.
  const storedSchema: Schema = stored.schema?.openAPIV3Schema ?? {}
  const hasStatus = version.subresources?.status !== undefined
  const { scale } = version.subresources ?? {}
  const shape = (object: ApiObject): ApiObject => {
    const fields = fillObject(pruneObject(asValues(object), storedSchema), storedSchema)
    return { ...fields, ...placed(object, `${group}/${version.name}`) }
  }
  const columns = customColumns(version.additionalPrinterColumns)
  return {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    typeName: [...group.split('.').toReversed(), version.name, names.kind].join('.'),
    schema,
    custom: {
      schema: asValues(schema),
      apiVersions: versions.filter(({ served }) => served).map(({ name }) => `${group}/${name}`),
    },
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    isNamespaced: scope === 'Namespaced',
    verbs: CUSTOM_RESOURCE_VERBS,
    hasSchema: true,
    storage: `${names.plural}.${group}`,
    convert: { fromStored: shape, toStored: (object) => ({ ...object, apiVersion: `${group}/${stored.name}` }) },
    nameRule: dnsSubdomain,
    hasGeneration: true,
    countsAnnotations: false,
    countsAllFields: true,
    createsOnUpdate: false,
    updatesUnconditionally: false,
    answersDeleted: false,
    ...(version.deprecated === true && { deprecation: deprecationOf(definition, version, names.kind) }),
    subresources: [...(hasStatus ? [customStatus(schema)] : []), ...(scale === undefined ? [] : [customScale(scale)])],
    selectableFields: Object.fromEntries(
      (version.selectableFields ?? []).map(({ jsonPath }) => [
        jsonPath.slice(1),
        (object: ApiObject) => textOf(readAt(object, jsonPath)),
      ]),
    ),
    columns: { ...columns, cells: (object, now) => columns.cells(shape(object), now) },
    rules: {
      fillDefaults: (object) => ({ ...fillObject(asValues(object), schema), ...placed(object) }),
      prepareCreate: (object) => {
        refuseIfTerminating(definition, object)
        return hasStatus ? withoutStatus(object) : object
      },
      prepareUpdate: (object) => (object.status === undefined ? withoutStatus(object) : object),
      validate: (object) => [...validateValue(object, schema), ...validateExtensions(object, schema)],
      validateUpdate: (object, before) => validateChange(object, before, schema),
      judgesChanges: true,
    },
  }
}

/** Only the status counts; the generation stays, since the spec does. */
function customStatus(schema: Schema): Subresource {
  return {
    name: 'status',
    verbs: ['get', 'patch', 'update'],
    merge: (object, before) =>
      object.status === undefined ? withoutStatus(before) : { ...before, status: object.status },
    validate: (object, before) => validateChange(object, before, schema),
  }
}

/** What was wrong before may stay as it is. */
function validateChange(object: ApiObject, before: ApiObject, schema: Schema) {
  const wasFine = validateExtensions(before, schema).length === 0
  return [
    ...validateValue(object, schema, undefined, { value: before }),
    ...(wasFine ? validateExtensions(object, schema) : []),
  ]
}

function refuseIfTerminating({ metadata, spec }: Definition, object: ApiObject): void {
  if (metadata.deletionTimestamp === undefined) return
  const named = { group: spec.group, resource: spec.names.plural, name: object.metadata.name ?? '' }
  throw forbidden(named, 'create not allowed while custom resource definition is terminating')
}

function asValues(object: object): Readonly<Record<string, unknown>> {
  return object as Readonly<Record<string, unknown>>
}

/** What every object has, as it was; with another version of the API where one is given. */
function placed({ apiVersion, kind, metadata }: ApiObject, version = apiVersion): ApiObject {
  return { apiVersion: version, kind, metadata }
}

function withoutStatus(object: ApiObject): ApiObject {
  const { status: _, ...rest } = object
  return rest
}

function textOf(value: unknown): string | undefined {
  return ['string', 'boolean', 'number', 'bigint'].includes(typeof value) ? String(value) : undefined
}

function deprecationOf({ spec }: Definition, version: CustomResourceDefinitionVersion, kind: string): string {
  if (version.deprecationWarning) return version.deprecationWarning
  const newer = spec.versions
    .filter(({ served, deprecated }) => served && deprecated !== true)
    .map(({ name }) => name)
    .toSorted(compareVersions)
    .find((name) => compareVersions(name, version.name) < 0)
  const use = newer === undefined ? '' : `; use ${spec.group}/${newer} ${kind}`
  return `${spec.group}/${version.name} ${kind} is deprecated${use}`
}

/** Versions in the order of discovery: finished ones, then beta, then alpha, the higher numbers first, other names last. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)]
  if (left === undefined || right === undefined) return left === right ? (a < b ? -1 : 1) : left === undefined ? 1 : -1
  for (const [index, each] of left.entries()) {
    if (each !== right[index]) return (right[index] ?? 0) - each
  }
  return 0
}

function rankOf(version: string): readonly number[] | undefined {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version)
  if (match === null) return undefined
  const stage = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0
  return [stage, Number(match[1]), Number(match[3] ?? 0)]
}
