import { each, get, patch, post, put, remove } from '../contract-case.ts'
import type { ContractCase, ContractTable } from '../contract-case.ts'
import { of } from './objects.ts'

type Fields = Readonly<Record<string, unknown>>

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const OBJECT = { type: 'object' }
export const quiet = { shows: 'code' } as const

/** A definition of a kind; what differs from the simplest one is given. */
export function definition(
  kind: string,
  spec: Fields = {},
  version: Fields = {},
  metadata: Fields = {},
  group = 'contract.example.com',
) {
  const plural = `${kind.toLowerCase()}s`
  return of(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    `${plural}.${group}`,
    {
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, kind },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: OBJECT }, ...version }],
        ...spec,
      },
    },
    metadata,
  )
}

/** A version by its name; the first one is stored. */
export const version = (name: string, fields: Fields = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: OBJECT },
  ...fields,
})

const tryOut = (body: unknown) => post(`${DEFINITIONS}?dryRun=All`, body, { shows: ['spec', 'status.storedVersions'] })
const withSchema = (schema: Fields) => definition('Tried', {}, { schema: { openAPIV3Schema: schema } })
const field = (schema: Fields) => ({
  type: 'object',
  properties: { spec: { type: 'object', properties: { a: schema } } },
})
const names = (fields: Fields) => definition('Tried', { names: { plural: 'trieds', kind: 'Tried', ...fields } })

const wholes: Readonly<Record<string, unknown>> = {
  'the simplest one': definition('Tried'),
  'of the cluster': definition('Tried', { scope: 'Cluster' }),
  'another name': { ...definition('Tried'), metadata: { name: 'other.contract.example.com' } },
  'no group': definition('Tried', { group: '' }),
  'a group without a dot': { ...definition('Tried', { group: 'example' }), metadata: { name: 'trieds.example' } },
  'a group that is no domain': definition('Tried', { group: 'Bad_Group.com' }),
  'a group of Kubernetes': definition('Tried', {}, {}, {}, 'contract.k8s.io'),
  'a group of Kubernetes, approved': definition(
    'Tried',
    {},
    {},
    { annotations: { 'api-approved.kubernetes.io': 'https://example.com/1' } },
    'contract.k8s.io',
  ),
  'a group of Kubernetes, not approved': definition(
    'Tried',
    {},
    {},
    { annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } },
    'contract.k8s.io',
  ),
  'a group of Kubernetes, with nonsense': definition(
    'Tried',
    {},
    {},
    { annotations: { 'api-approved.kubernetes.io': 'yes' } },
    'contract.k8s.io',
  ),
  'no scope': definition('Tried', { scope: '' }),
  'a scope that is none': definition('Tried', { scope: 'World' }),
  'short names and categories': names({ shortNames: ['td'], categories: ['all'] }),
  'bad short names': names({ shortNames: ['T d', '1a'], categories: ['No'] }),
  'a singular and a kind of lists': names({ singular: 'triedone', listKind: 'TriedItems' }),
  'kind and kind of lists alike': names({ listKind: 'Tried' }),
  'a bad kind': names({ kind: 'Tr ied' }),
  'no kind': names({ kind: '' }),
  'a bad singular': names({ singular: 'Tried' }),
  'a bad plural': { ...names({ plural: 'Trieds' }), metadata: { name: 'Trieds.contract.example.com' } },
  'no versions': definition('Tried', { versions: [] }),
  'no stored version': definition('Tried', { versions: [version('v1', { storage: false })] }),
  'two stored versions': definition('Tried', { versions: [version('v1'), version('v2', { storage: true })] }),
  'two versions of a name': definition('Tried', { versions: [version('v1'), version('v1', { storage: false })] }),
  'two versions': definition('Tried', { versions: [version('v1'), version('v2')] }),
  'a version with a bad name': definition('Tried', {}, { name: 'V1' }),
  'no schema': definition('Tried', {}, { schema: undefined }),
  'an empty schema': definition('Tried', {}, { schema: {} }),
  'conversion: none': definition('Tried', { conversion: { strategy: 'None' } }),
  'conversion: nothing': definition('Tried', { conversion: {} }),
  'conversion: of another kind': definition('Tried', { conversion: { strategy: 'Magic' } }),
  'unknown fields for all': definition('Tried', { preserveUnknownFields: true }),
  'unknown fields for none': definition('Tried', { preserveUnknownFields: false }),
  deprecated: definition('Tried', {}, { deprecated: true, deprecationWarning: 'gone soon' }),
  'a warning without deprecation': definition('Tried', {}, { deprecationWarning: 'gone soon' }),
  'an empty warning': definition('Tried', {}, { deprecated: true, deprecationWarning: '' }),
  'a long warning': definition('Tried', {}, { deprecated: true, deprecationWarning: 'x'.repeat(257) }),
  columns: definition('Tried', {}, { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }] }),
  'a column without all': definition('Tried', {}, { additionalPrinterColumns: [{ name: '', type: '', jsonPath: '' }] }),
  'a column of a bad type': definition(
    'Tried',
    {},
    { additionalPrinterColumns: [{ name: 'A', type: 'object', jsonPath: '.spec.a' }] },
  ),
  'a column of a bad format': definition(
    'Tried',
    {},
    { additionalPrinterColumns: [{ name: 'A', type: 'string', format: 'x', jsonPath: '.spec.a' }] },
  ),
  'a column of a bad path': definition(
    'Tried',
    {},
    { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: 'spec.a' }] },
  ),
  'columns of one of two versions': definition('Tried', {
    versions: [version('v1', { additionalPrinterColumns: [{ name: 'A', type: 'x', jsonPath: '.a' }] }), version('v2')],
  }),
  subresources: definition(
    'Tried',
    {},
    {
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n', labelSelectorPath: '.status.s' },
      },
    },
  ),
  'scale without paths': definition(
    'Tried',
    {},
    { subresources: { scale: { specReplicasPath: '', statusReplicasPath: '' } } },
  ),
  'scale with wrong paths': definition(
    'Tried',
    {},
    {
      subresources: {
        scale: { specReplicasPath: '.status.n', statusReplicasPath: '.spec.n', labelSelectorPath: '.metadata.x' },
      },
    },
  ),
  'scale with no paths at all': definition(
    'Tried',
    {},
    { subresources: { scale: { specReplicasPath: 'x', statusReplicasPath: 'y', labelSelectorPath: 'z' } } },
  ),
  'fields to select by': definition(
    'Tried',
    {},
    { schema: { openAPIV3Schema: field({ type: 'string' }) }, selectableFields: [{ jsonPath: '.spec.a' }] },
  ),
  'fields to select by that are not there': definition(
    'Tried',
    {},
    { schema: { openAPIV3Schema: field({ type: 'string' }) }, selectableFields: [{ jsonPath: '.spec.b' }] },
  ),
  'fields to select by in the metadata': definition(
    'Tried',
    {},
    { selectableFields: [{ jsonPath: '.metadata.name' }] },
  ),
  'fields to select by that are objects': definition(
    'Tried',
    {},
    { schema: { openAPIV3Schema: field({ type: 'string' }) }, selectableFields: [{ jsonPath: '.spec' }] },
  ),
  'fields to select by twice': definition(
    'Tried',
    {},
    {
      schema: { openAPIV3Schema: field({ type: 'string' }) },
      selectableFields: [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.a' }],
    },
  ),
  'fields to select by without a path': definition(
    'Tried',
    {},
    { schema: { openAPIV3Schema: field({ type: 'string' }) }, selectableFields: [{ jsonPath: '' }] },
  ),
  'a version that is not served': definition('Tried', {}, { served: false }),
}

const schemas: Readonly<Record<string, Fields>> = {
  'root: no type': {},
  'root: a type that is no object': { type: 'string' },
  'root: nullable': { type: 'object', nullable: true },
  'root: a map': { type: 'object', additionalProperties: { type: 'string' } },
  'root: a name': {
    type: 'object',
    properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } } },
  },
  'root: more of the metadata': {
    type: 'object',
    properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
  },
  'root: metadata with a rule': { type: 'object', properties: { metadata: { type: 'object', minProperties: 1 } } },
  'root: metadata that is a text': { type: 'object', properties: { metadata: { type: 'string' } } },
  'root: a kind that is a number': {
    type: 'object',
    properties: { kind: { type: 'integer' }, apiVersion: { type: 'boolean' } },
  },
  'root: unknown fields stay': { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  'root: a default of the kind': { type: 'object', properties: { kind: { type: 'string', default: 'X' } } },
  'a field without a type': field({}),
  'a field of an unknown type': field({ type: 'map' }),
  'a field of type null': field({ type: 'null' }),
  'a list without items': field({ type: 'array' }),
  'a list with items': field({ type: 'array', items: { type: 'string' } }),
  'a list of items without a type': field({ type: 'array', items: {} }),
  'items that are a list': field({ type: 'array', items: [{ type: 'string' }] }),
  'a map': field({ type: 'object', additionalProperties: { type: 'string' } }),
  'a map of anything': field({ type: 'object', additionalProperties: true }),
  'a map of nothing': field({ type: 'object', additionalProperties: false }),
  'a map without a type of values': field({ type: 'object', additionalProperties: {} }),
  'fields and a map': field({
    type: 'object',
    properties: { x: { type: 'string' } },
    additionalProperties: { type: 'string' },
  }),
  'a reference': field({ type: 'object', $ref: '#/x' }),
  'an id': field({ type: 'string', id: 'x' }),
  definitions: field({ type: 'object', definitions: { x: { type: 'string' } } }),
  dependencies: field({ type: 'object', dependencies: { x: ['y'] } }),
  'patterns of properties': field({ type: 'object', patternProperties: { x: { type: 'string' } } }),
  'additional items': field({ type: 'array', items: { type: 'string' }, additionalItems: { type: 'string' } }),
  'unique items': field({ type: 'array', items: { type: 'string' }, uniqueItems: true }),
  'a pattern': field({ type: 'string', pattern: '^[a-z]+$' }),
  'a pattern that is none': field({ type: 'string', pattern: '(' }),
  'a pattern that looks ahead': field({ type: 'string', pattern: 'a(?=b)' }),
  'a number or text': field({ 'x-kubernetes-int-or-string': true }),
  'a number or text with a type': field({ type: 'string', 'x-kubernetes-int-or-string': true }),
  'a number or text by choice': field({
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
  }),
  'a number or text by choice inside all': field({
    'x-kubernetes-int-or-string': true,
    allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }],
  }),
  'a number or text that keeps fields': field({
    'x-kubernetes-int-or-string': true,
    'x-kubernetes-preserve-unknown-fields': true,
  }),
  'unknown fields stay': field({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
  'unknown fields stay, of any type': field({ 'x-kubernetes-preserve-unknown-fields': true }),
  'unknown fields do not stay': field({ type: 'object', 'x-kubernetes-preserve-unknown-fields': false }),
  'an embedded object': field({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  }),
  'an embedded object without fields': field({ type: 'object', 'x-kubernetes-embedded-resource': true }),
  'an embedded object without a type': field({
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  }),
  'an embedded text': field({
    type: 'string',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  }),
  'a default': field({ type: 'string', default: 'x' }),
  'a default of another type': field({ type: 'string', default: 5 }),
  'a default that breaks a rule': field({ type: 'string', maxLength: 2, default: 'long' }),
  'a default with unknown fields': field({
    type: 'object',
    properties: { x: { type: 'string' } },
    default: { y: 'z' },
  }),
  'a default of an object': field({ type: 'object', properties: { x: { type: 'string' } }, default: { x: 'z' } }),
  'a default that is null': field({ type: 'string', nullable: true, default: null }),
  'a choice with a type': field({ type: 'object', properties: { x: { type: 'string' } }, oneOf: [{ type: 'object' }] }),
  'a choice with a description': field({ type: 'string', anyOf: [{ description: 'x' }] }),
  'a choice with a default': field({ type: 'string', allOf: [{ default: 'x' }] }),
  'a choice with a title': field({ type: 'string', not: { title: 'x' } }),
  'a choice that is nullable': field({ type: 'string', anyOf: [{ nullable: true }] }),
  'a choice with a map': field({ type: 'object', anyOf: [{ additionalProperties: { maxLength: 2 } }] }),
  'a choice of required fields': field({
    type: 'object',
    properties: { x: { type: 'string' }, y: { type: 'string' } },
    oneOf: [{ required: ['x'] }, { required: ['y'] }],
  }),
  'a choice of a field that is not there': field({ type: 'object', oneOf: [{ properties: { x: { maxLength: 2 } } }] }),
  'a choice of items that are not there': field({ type: 'object', anyOf: [{ items: { maxLength: 2 } }] }),
  'a choice of a field of a field that is not there': field({
    type: 'object',
    properties: { x: { type: 'object' } },
    allOf: [{ properties: { x: { properties: { y: { minimum: 1 } } } } }],
  }),
  'a choice that keeps fields': field({ type: 'object', anyOf: [{ 'x-kubernetes-preserve-unknown-fields': true }] }),
  'a set': field({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }),
  'a set of objects': field({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' }),
  'a set of whole objects': field({
    type: 'array',
    items: { type: 'object', 'x-kubernetes-map-type': 'atomic' },
    'x-kubernetes-list-type': 'set',
  }),
  'a set of what may be null': field({
    type: 'array',
    items: { type: 'string', nullable: true },
    'x-kubernetes-list-type': 'set',
  }),
  'a list of an unknown type': field({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'bag' }),
  'a type of list for a text': field({ type: 'string', 'x-kubernetes-list-type': 'set' }),
  'a list with keys': field({
    type: 'array',
    items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  }),
  'a list with keys by default': field({
    type: 'array',
    items: { type: 'object', properties: { k: { type: 'string', default: 'd' } } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  }),
  'a list with keys that may be missing': field({
    type: 'array',
    items: { type: 'object', properties: { k: { type: 'string' } } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  }),
  'a list with keys that are none': field({
    type: 'array',
    items: { type: 'object', properties: { k: { type: 'string' } } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['z'],
  }),
  'a list with keys twice': field({
    type: 'array',
    items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k', 'k'],
  }),
  'a list with keys that are objects': field({
    type: 'array',
    items: { type: 'object', required: ['k'], properties: { k: { type: 'object' } } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  }),
  'a list of kind map without keys': field({
    type: 'array',
    items: { type: 'object' },
    'x-kubernetes-list-type': 'map',
  }),
  'keys of a list that has no kind': field({
    type: 'array',
    items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
    'x-kubernetes-list-map-keys': ['k'],
  }),
  'a list with keys of texts': field({
    type: 'array',
    items: { type: 'string' },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  }),
  'a whole map': field({ type: 'object', 'x-kubernetes-map-type': 'atomic' }),
  'a map of an unknown kind': field({ type: 'object', 'x-kubernetes-map-type': 'loose' }),
  'a kind of map for a text': field({ type: 'string', 'x-kubernetes-map-type': 'atomic' }),
  'zero limits': field({ type: 'string', minLength: 0, maxLength: 0 }),
  'examples and documents': field({ type: 'string', example: { a: 1 }, externalDocs: { url: 'https://example.com' } }),
}

const lives: readonly ContractCase[] = [
  each(
    'is served, changed, and gone',
    post(DEFINITIONS, definition('Life'), quiet),
    get('/apis/contract.example.com/v1/lifes', { until: 200, shows: ['kind', 'apiVersion', 'items'] }),
    get(`${DEFINITIONS}/lifes.contract.example.com`, { shows: conditions }),
    patch(
      'merge',
      `${DEFINITIONS}/lifes.contract.example.com`,
      { spec: { names: { shortNames: ['lf'] } } },
      { shows: ['spec.names', 'metadata.generation'] },
    ),
    patch(
      'merge',
      `${DEFINITIONS}/lifes.contract.example.com`,
      { spec: { group: 'other.example.com' } },
      { shows: 'code' },
    ),
    patch('merge', `${DEFINITIONS}/lifes.contract.example.com`, { spec: { names: { kind: 'Other' } } }),
    patch('merge', `${DEFINITIONS}/lifes.contract.example.com`, { spec: { scope: 'Cluster' } }),
    patch(
      'merge',
      `${DEFINITIONS}/lifes.contract.example.com`,
      { spec: { versions: [version('v1', { storage: false }), version('v2', { storage: true })] } },
      { shows: ['status.storedVersions'] },
    ),
    patch('merge', `${DEFINITIONS}/lifes.contract.example.com`, {
      spec: { versions: [version('v2', { storage: true })] },
    }),
    post(DEFINITIONS, definition('Life')),
    remove(`${DEFINITIONS}/lifes.contract.example.com`, undefined, quiet),
    get(`${DEFINITIONS}/lifes.contract.example.com`, { until: 404 }),
  ),
  each(
    'two of a kind: the second waits until the first is gone',
    post(DEFINITIONS, definition('First', { names: { plural: 'firsts', kind: 'Same' } }), quiet),
    get('/apis/contract.example.com/v1/firsts', { until: 200, ...quiet }),
    post(DEFINITIONS, definition('Second', { names: { plural: 'seconds', kind: 'Same' } }), quiet),
    remove(`${DEFINITIONS}/firsts.contract.example.com`, undefined, quiet),
    get('/apis/contract.example.com/v1/seconds', { until: 200, ...quiet }),
    get(`${DEFINITIONS}/seconds.contract.example.com`, { shows: conditions }),
    remove(`${DEFINITIONS}/seconds.contract.example.com`, undefined, quiet),
    get(`${DEFINITIONS}/seconds.contract.example.com`, { until: 404, ...quiet }),
  ),
  each(
    'a status that is sent with it is not taken',
    post(
      `${DEFINITIONS}?dryRun=All`,
      {
        ...definition('Tried'),
        status: { storedVersions: ['v9'], conditions: [], acceptedNames: { plural: 'x', kind: 'X' } },
      },
      { shows: ['status.storedVersions'] },
    ),
  ),
  each(
    'a replacement of one that is not there',
    put(`${DEFINITIONS}/trieds.contract.example.com`, definition('Tried')),
  ),
  each(
    'an unknown field',
    post(`${DEFINITIONS}?dryRun=All&fieldValidation=Strict`, definition('Tried', { color: 'red' })),
  ),
  each(
    'an unknown keyword',
    post(
      `${DEFINITIONS}?dryRun=All&fieldValidation=Strict`,
      withSchema({ type: 'object', properties: { a: { type: 'string', colour: 'red' } } }),
    ),
  ),
  each(
    'printed',
    get(DEFINITIONS, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
      shows: ['columnDefinitions.*.name', 'columnDefinitions.*.type'],
    }),
  ),
  each(
    'what the group has',
    get('/apis/apiextensions.k8s.io/v1', { shows: ['resources.*.name', 'resources.*.verbs'] }),
  ),
]

/** The names and conditions, without the moment in between that the real one shows. */
function conditions(body: unknown): unknown {
  const { status } = body as {
    status: {
      conditions: { type: string; status: string; reason: string; message: string }[]
      acceptedNames: object
      storedVersions: unknown
    }
  }
  return {
    names: status.acceptedNames,
    stored: status.storedVersions,
    conditions: status.conditions.map(({ type, status: is, reason, message }) => `${type} ${is} ${reason} ${message}`),
  }
}

export const definitions: ContractTable = {
  name: 'definitions',
  cases: [
    ...Object.entries(wholes).map(([name, body]) => each(`definition: ${name}`, tryOut(body))),
    ...Object.entries(schemas).map(([name, schema]) => each(`schema: ${name}`, tryOut(withSchema(schema)))),
    ...lives,
  ],
}
