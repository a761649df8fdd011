import { each, get, patch, post, put, remove, watch } from '../contract-case.ts'
import type { ContractCase, ContractTable } from '../contract-case.ts'
import { definition, DEFINITIONS, quiet, version } from './definitions.ts'
import { of } from './objects.ts'
import * as r from './role-objects.ts'

type Fields = Readonly<Record<string, unknown>>

const GROUP = '/apis/contract.example.com'
const WIDGETS = `${GROUP}/v1/namespaces/$(ns)/widgets`
const GADGETS = `${GROUP}/v1/namespaces/$(ns)/gadgets`
const GADGETS_2 = `${GROUP}/v2/namespaces/$(ns)/gadgets`
const text = { type: 'string' }

/** One field for each keyword. */
const fields: Fields = {
  any: { 'x-kubernetes-preserve-unknown-fields': true },
  bool: { type: 'boolean' },
  byte: { type: 'string', format: 'byte' },
  cidr: { type: 'string', format: 'cidr' },
  choice: { type: 'object', properties: { x: text, y: text }, oneOf: [{ required: ['x'] }, { required: ['y'] }] },
  date: { type: 'string', format: 'date' },
  duration: { type: 'string', format: 'duration' },
  either: { 'x-kubernetes-int-or-string': true },
  email: { type: 'string', format: 'email' },
  embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  enumeration: { type: 'string', enum: ['red', 'green'] },
  host: { type: 'string', format: 'hostname' },
  int: { type: 'integer', minimum: 1, maximum: 9, multipleOf: 3 },
  int32: { type: 'integer', format: 'int32' },
  ip: { type: 'string', format: 'ipv4' },
  ip6: { type: 'string', format: 'ipv6' },
  keyed: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', required: ['k'], properties: { k: text, v: { type: 'integer', default: 7 } } },
  },
  list: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', maxLength: 3 } },
  map: { type: 'object', maxProperties: 2, additionalProperties: { type: 'integer' } },
  mac: { type: 'string', format: 'mac' },
  mixed: {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { known: { type: 'object', properties: { a: text } } },
  },
  nested: {
    type: 'object',
    required: ['must'],
    properties: { must: text, filled: { type: 'string', default: 'yes' } },
  },
  none: { type: 'string', not: { enum: ['never'] } },
  nullable: { type: 'string', nullable: true },
  number: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 10, exclusiveMaximum: true },
  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
  size: { type: 'object', minProperties: 1, 'x-kubernetes-preserve-unknown-fields': true },
  some: { type: 'string', anyOf: [{ maxLength: 2 }, { pattern: '^long' }] },
  text: { type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z]+$' },
  time: { type: 'string', format: 'date-time' },
  twice: { type: 'string', allOf: [{ minLength: 2 }, { maxLength: 3 }] },
  uri: { type: 'string', format: 'uri' },
  uuid: { type: 'string', format: 'uuid' },
  withDefault: { type: 'integer', default: 3 },
  withObject: { type: 'object', default: {}, properties: { inner: { type: 'string', default: 'in' } } },
}

const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: fields },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
}

const widget = (spec: unknown, name = 'w', more: Fields = {}) =>
  of('contract.example.com/v1', 'Widget', name, { spec, ...more })

/** What is sent as the spec. */
const values: Readonly<Record<string, unknown>> = {
  nothing: {},
  'a text for a number': { int: 'x' },
  'a number for a text': { text: 5 },
  'a list for an object': { nested: [] },
  'an object for a list': { list: {} },
  'a text for a boolean': { bool: 'true' },
  'a number with a fraction for a whole one': { int: 1.5 },
  'a whole number': { int: 6 },
  'a number too small': { int: 0 },
  'a number too large': { int: 12 },
  'a number that is no multiple': { int: 4 },
  'a number at the lower limit': { number: 0 },
  'a number at the upper limit': { number: 10 },
  'a number within': { number: 2.5 },
  'a number of more than 32 bits': { int32: 3_000_000_000 },
  'a text too short': { text: 'a' },
  'a text too long': { text: 'abcdef' },
  'a text that does not match': { text: 'AB' },
  'a text that is fine': { text: 'abc' },
  'a value that is none of those': { enumeration: 'blue' },
  'a value that is one of those': { enumeration: 'red' },
  'a required field that is missing': { nested: {} },
  'a required field that is there': { nested: { must: 'x' } },
  'a list too short': { list: [] },
  'a list too long': { list: ['a', 'b', 'c'] },
  'a list with a wrong item': { list: ['a', 'long'] },
  'a list with an item of a wrong type': { list: ['a', 1] },
  'a map': { map: { a: 1 } },
  'a map too large': { map: { a: 1, b: 2, c: 3 } },
  'a map with a wrong value': { map: { a: 'x' } },
  'an object too small': { size: {} },
  'neither of two': { choice: {} },
  'one of two': { choice: { x: 'a' } },
  'both of two': { choice: { x: 'a', y: 'b' } },
  'some rule is kept': { some: 'longer' },
  'no rule of some is kept': { some: 'other' },
  'not all rules are kept': { twice: 'a' },
  'all rules are kept': { twice: 'ab' },
  'what must not be': { none: 'never' },
  'what may be': { none: 'ever' },
  'a number where both may be': { either: 5 },
  'a text where both may be': { either: '5%' },
  'a boolean where a number or text may be': { either: true },
  'null where it may be': { nullable: null },
  'null where it may not be': { text: null },
  'null where there is a default': { withDefault: null },
  'another value than the default': { withDefault: 5 },
  'an object by default, given': { withObject: { inner: 'own' } },
  'null for an object by default': { withObject: null },
  'a set': { set: ['a', 'b'] },
  'a set with an item twice': { set: ['a', 'b', 'a'] },
  'items with keys': { keyed: [{ k: 'a' }, { k: 'b', v: 1 }] },
  'items with a key twice': { keyed: [{ k: 'a' }, { k: 'a' }] },
  'items without their key': { keyed: [{ v: 1 }] },
  'a null item': { list: [null] },
  anything: { any: { a: [1, { b: null }] } },
  'anything that is a text': { any: 'x' },
  'unknown beside known': { mixed: { other: { x: 1 }, known: { a: 'x', b: 'y' } } },
  'an embedded object': {
    embedded: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { a: 'b' } },
  },
  'an embedded object without its kind': { embedded: { apiVersion: 'v1' } },
  'an embedded object without anything': { embedded: {} },
  'an unknown field': { colour: 'red', text: 'abc' },
  'an unknown field deep inside': { nested: { must: 'x', other: { a: 1 } }, list: ['a'] },
  'a time': { time: '2026-01-02T03:04:05Z' },
  'a time that is none': { time: 'noon' },
  'a date': { date: '2026-01-02' },
  'a date that is none': { date: '2026-13-02' },
  bytes: { byte: 'aGk=' },
  'bytes that are none': { byte: '%' },
  'an address': { ip: '10.0.0.1' },
  'an address that is none': { ip: '10.0.0.256' },
  'an address of the other family': { ip: '::1' },
  'an address of version 6': { ip6: '::1' },
  'an address of version 6 that is none': { ip6: 'x' },
  'a range': { cidr: '10.0.0.0/8' },
  'a range that is none': { cidr: '10.0.0.0' },
  'an e-mail address': { email: 'a@example.com' },
  'an e-mail address that is none': { email: 'a' },
  'a host name': { host: 'a.example.com' },
  'a host name that is none': { host: 'a b' },
  'a URI': { uri: 'https://example.com/x' },
  'a UUID': { uuid: '01234567-89ab-cdef-0123-456789abcdef' },
  'a UUID that is none': { uuid: 'x' },
  'a MAC address': { mac: '00:11:22:33:44:55' },
  'a MAC address that is none': { mac: '00:11' },
  'a duration': { duration: '5m' },
  'a duration that is none': { duration: 'x' },
  'a number of 64 bits': { any: 9_007_199_254_740_991 },
  'several mistakes': { text: 'AB', int: 20, enumeration: 'x' },
}

const valueCases: readonly ContractCase[] = Object.entries(values).map(([name, spec]) =>
  each(`value: ${name}`, post(`${WIDGETS}?dryRun=All`, widget(spec), { shows: (body) => shownSpec(body) })),
)

/** Of an object its spec, of a rejection all of it. */
function shownSpec(body: unknown): unknown {
  const { spec, status } = body as { readonly spec: unknown; readonly status: unknown }
  return { spec, status }
}

const STRICT = `${WIDGETS}?dryRun=All&fieldValidation=Strict`
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const SHOWN = ['metadata.generation', 'spec', 'status']
const gadget = (name: string, spec: Fields, more: Fields = {}) =>
  of('contract.example.com/v1', 'Gadget', name, { spec, ...more })

const otherCases: readonly ContractCase[] = [
  each('another kind', post(WIDGETS, of('contract.example.com/v1', 'Other', 'x'))),
  each('another version', post(WIDGETS, of('contract.example.com/v9', 'Widget', 'x'))),
  each('no kind', post(`${WIDGETS}?dryRun=All`, { metadata: { name: 'x' } }, { shows: 'code' })),
  each('a bad name', post(WIDGETS, widget({}, 'Bad_Name'))),
  each('no name', post(WIDGETS, { ...widget({}), metadata: {} })),
  each(
    'metadata of a wrong type',
    post(WIDGETS, { ...widget({}), metadata: { name: 'x', labels: 'x' } }, { shows: 'code' }),
  ),
  each('a bad label', post(WIDGETS, { ...widget({}), metadata: { name: 'x', labels: { 'a b': 'c' } } })),
  each('a spec that is a text', post(WIDGETS, widget('x'))),
  each('strict: an unknown field', post(STRICT, widget({ colour: 'red' }))),
  each(
    'strict: an unknown field deep inside',
    post(STRICT, widget({ nested: { must: 'x', other: 1 }, keyed: [{ k: 'a', z: 1 }] })),
  ),
  each('strict: an unknown field beside the spec', post(STRICT, widget({}, 'w', { extra: 1 }))),
  each(
    'strict: an unknown field of the metadata',
    post(STRICT, { ...widget({}), metadata: { name: 'w', colour: 'x' } }, { shows: 'code' }),
  ),
  each(
    'strict: a field twice',
    post(
      STRICT,
      '{"apiVersion":"contract.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"text":"abc","text":"abd"}}',
    ),
  ),
  each('strict: fine', post(STRICT, widget({ text: 'abc' }), { shows: ['spec'] })),
  each(
    'ignored: an unknown field',
    post(`${WIDGETS}?dryRun=All&fieldValidation=Ignore`, widget({ colour: 'red' }), { shows: ['spec'] }),
  ),
  each(
    'warned: an unknown field',
    post(`${WIDGETS}?dryRun=All&fieldValidation=Warn`, widget({ colour: 'red' }), { shows: ['spec'] }),
  ),
  each(
    'a life',
    post(WIDGETS, widget({ text: 'abc' }, 'life')),
    post(WIDGETS, widget({ text: 'abc' }, 'life')),
    get(`${WIDGETS}/life`),
    put(`${WIDGETS}/life`, widget({ text: 'abd' }, 'life')),
    patch('merge', `${WIDGETS}/life`, { spec: { text: 'abd' } }, { shows: SHOWN }),
    patch('merge', `${WIDGETS}/life`, { spec: { text: null, int: 3 } }, { shows: SHOWN }),
    patch('merge', `${WIDGETS}/life`, { spec: { int: 20 } }),
    patch('json', `${WIDGETS}/life`, [{ op: 'replace', path: '/spec/int', value: 6 }], { shows: SHOWN }),
    patch('strategic', `${WIDGETS}/life`, { spec: { int: 3 } }, { shows: 'code' }),
    patch(
      'merge',
      `${WIDGETS}/life`,
      { metadata: { labels: { a: 'b' } } },
      { shows: ['metadata.labels', 'metadata.generation'] },
    ),
    patch('merge', `${WIDGETS}/life`, { status: { free: 1 } }, { shows: SHOWN }),
    get(`${WIDGETS}?labelSelector=a%3Db`, { shows: ['kind', 'items.*.metadata.name'] }),
    remove(`${WIDGETS}/life`),
    get(`${WIDGETS}/life`),
  ),
  each('a replacement that makes one', put(`${WIDGETS}/made`, widget({}, 'made'))),
  each(
    'a replacement with its version',
    post(WIDGETS, widget({ text: 'abc' }, 'put'), { keep: 'put', ...quiet }),
    put(
      `${WIDGETS}/put`,
      {
        ...widget({ text: 'abd' }, 'put'),
        metadata: { name: 'put', resourceVersion: '$(put.metadata.resourceVersion)' },
      },
      { shows: SHOWN },
    ),
    put(`${WIDGETS}/put`, {
      ...widget({ text: 'abe' }, 'put'),
      metadata: { name: 'put', resourceVersion: '$(put.metadata.resourceVersion)' },
    }),
  ),
  each('the status of one without', get(`${WIDGETS}/put/status`, { shows: 'code' })),
  each('the scale of one without', put(`${WIDGETS}/put/scale`, {}, { shows: 'code' })),
  each(
    'a watch',
    watch(`${WIDGETS}?fieldSelector=metadata.name%3Dput&timeoutSeconds=3`, 1, {
      shows: (body) =>
        (body as { type: string; object: { spec: unknown } }[]).map(({ type, object }) => [type, object.spec]),
    }),
  ),
  each('selected by a field that is none', get(`${WIDGETS}?fieldSelector=spec.text%3Dabd`, { shows: 'code' })),
  each(
    'printed',
    get(`${WIDGETS}?fieldSelector=metadata.name%3Dput`, {
      headers: TABLE,
      shows: ['columnDefinitions.*.name', 'columnDefinitions.*.type', 'rows.*.cells'],
    }),
  ),
  each('all at once', remove(WIDGETS, undefined, { shows: ['kind'] }), get(WIDGETS, { shows: ['items'] })),
  each('of all namespaces', get(`${GROUP}/v1/widgets`, { shows: ['kind', 'items'] })),
  each('a kind that is none', get(`${GROUP}/v1/namespaces/$(ns)/nones`, { ...r.as('contract-x') })),
  each('a version that is none', get(`${GROUP}/v7/namespaces/$(ns)/widgets`, { ...r.as('contract-x') })),
  each('one who may not', get(WIDGETS, r.as('contract-x'))),
]

const applied = (manager: string, spec: Fields, query = '') =>
  patch('apply', `${WIDGETS}/applied?fieldManager=${manager}${query}`, widget(spec, 'applied'), {
    shows: (body) => shownSpec(body),
  })

const applyCases: readonly ContractCase[] = [
  each('applied: a new one', applied('m1', { text: 'abc', keyed: [{ k: 'a', v: 1 }] })),
  each('applied: items of another by their key', applied('m2', { keyed: [{ k: 'b', v: 2 }] })),
  each('applied: a value of another', applied('m2', { text: 'abd', keyed: [{ k: 'b', v: 2 }] })),
  each(
    'applied: a value of another, by force',
    applied('m2', { text: 'abd', keyed: [{ k: 'b', v: 2 }] }, '&force=true'),
  ),
  each('applied: an item that is given up', applied('m1', {})),
  each('applied: a list that is one value', applied('m1', { list: ['a'] }), applied('m3', { list: ['b'] })),
  each('applied: an unknown field', applied('m1', { colour: 'red' })),
  each('applied: a wrong value', applied('m1', { int: 20 })),
  each('applied: who owns what', get(`${WIDGETS}/applied`, { shows: owners })),
]

function owners(body: unknown): unknown {
  const { metadata } = body as {
    readonly metadata: {
      readonly managedFields: readonly {
        readonly manager: string
        readonly operation: string
        readonly fieldsV1: object
      }[]
    }
  }
  return metadata.managedFields
    .map(({ manager, operation, fieldsV1 }) => `${manager} ${operation} ${JSON.stringify(fieldsV1)}`)
    .toSorted()
}

const gadgetCases: readonly ContractCase[] = [
  each(
    'gadget: made, with a status',
    post(GADGETS, gadget('g', { replicas: 2, mode: 'fast' }, { status: { replicas: 1 } })),
  ),
  each(
    'gadget: the status by the main path',
    patch('merge', `${GADGETS}/g`, { status: { replicas: 9 }, spec: { mode: 'slow' } }, { shows: SHOWN }),
  ),
  each(
    'gadget: the status',
    patch(
      'merge',
      `${GADGETS}/g/status`,
      {
        status: { replicas: 1, selector: 'a=b', since: '2026-01-01T00:00:00Z' },
        spec: { mode: 'none' },
        metadata: { labels: { x: 'y' } },
      },
      { shows: [...SHOWN, 'metadata.labels'] },
    ),
  ),
  each('gadget: a status that is wrong', patch('merge', `${GADGETS}/g/status`, { status: { replicas: 'many' } })),
  each('gadget: the status, read', get(`${GADGETS}/g/status`, { shows: SHOWN })),
  each(
    'gadget: the status, replaced',
    get(`${GADGETS}/g`, { keep: 'g', ...quiet }),
    put(
      `${GADGETS}/g/status`,
      {
        ...gadget('g', {}),
        metadata: { name: 'g', resourceVersion: '$(g.metadata.resourceVersion)' },
        status: { replicas: 2, selector: 'a=b' },
      },
      { shows: SHOWN },
    ),
  ),
  each('gadget: its scale', get(`${GADGETS}/g/scale`)),
  each(
    'gadget: scaled',
    patch('merge', `${GADGETS}/g/scale`, { spec: { replicas: 5 } }),
    get(`${GADGETS}/g`, { shows: SHOWN }),
  ),
  each(
    'gadget: scaled by a replacement',
    get(`${GADGETS}/g/scale`, { keep: 's', ...quiet }),
    put(`${GADGETS}/g/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'g', namespace: '$(ns)', resourceVersion: '$(s.metadata.resourceVersion)' },
      spec: { replicas: 4 },
    }),
  ),
  each(
    'gadget: scaled below zero',
    patch('merge', `${GADGETS}/g/scale`, { spec: { replicas: -1 } }, { shows: 'code' }),
  ),
  each(
    'gadget: printed',
    get(`${GADGETS}?fieldSelector=metadata.name%3Dg`, {
      headers: TABLE,
      shows: ['columnDefinitions.*.name', 'columnDefinitions.*.type', 'columnDefinitions.*.priority', 'rows.*.cells'],
    }),
  ),
  each(
    'gadget: printed in the other version',
    get(`${GADGETS_2}?fieldSelector=metadata.name%3Dg`, {
      headers: TABLE,
      shows: ['columnDefinitions.*.name', 'rows.*.cells'],
    }),
  ),
  each('gadget: the other version', get(`${GADGETS_2}/g`, { shows: ['apiVersion', 'spec'] })),
  each('gadget: a list of the other version', get(GADGETS_2, { shows: ['apiVersion', 'kind', 'items.*.apiVersion'] })),
  each(
    'gadget: made in the other version',
    post(GADGETS_2, of('contract.example.com/v2', 'Gadget', 'h', { spec: { replicas: 1, only2: 'x' } }), {
      shows: ['apiVersion', 'spec'],
    }),
    get(`${GADGETS}/h`, { shows: ['apiVersion', 'spec'] }),
  ),
  each('gadget: the body of another version', post(GADGETS_2, gadget('i', {}))),
  each('gadget: a version that is not served', get(`${GROUP}/v0/namespaces/$(ns)/gadgets`, r.as('contract-x'))),
  each('gadget: a deprecated version', get(`${GROUP}/v1beta1/namespaces/$(ns)/gadgets`, { shows: ['kind'] })),
  each(
    'gadget: selected by a field',
    get(`${GADGETS}?fieldSelector=spec.mode%3Dslow`, { shows: ['items.*.metadata.name'] }),
    get(`${GADGETS}?fieldSelector=spec.mode%3D`, { shows: ['items.*.metadata.name'] }),
  ),
  each('gadget: selected by another field', get(`${GADGETS}?fieldSelector=spec.replicas%3D1`)),
  each(
    'gadget: what was wrong before may stay',
    patch(
      'merge',
      `${DEFINITIONS}/gadgets.contract.example.com`,
      { metadata: { annotations: { touched: 'yes' } } },
      quiet,
    ),
    patch('merge', `${GADGETS}/g`, { metadata: { labels: { z: 'z' } } }, { shows: ['metadata.labels'] }),
  ),
  each('discovery: the group', get(GROUP, { shows: ['versions.*.version', 'preferredVersion.version'] })),
  each('discovery: a version', get(`${GROUP}/v1`, { shows: resourcesOf })),
  each('discovery: a version with fewer', get(`${GROUP}/v2`, { shows: resourcesOf })),
  each(
    'discovery: at once',
    get('/apis', {
      headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
      shows: ownGroup,
    }),
  ),
  each(
    'OpenAPI: the kind and its fields',
    get('/openapi/v3/apis/contract.example.com/v1', { shows: openApiOf, until: 200 }),
  ),
  each(
    'gadget: one that is held by a finalizer outlives its definition for a while',
    patch('merge', `${GADGETS}/g`, { metadata: { finalizers: ['example.com/hold'] } }, quiet),
    remove(`${DEFINITIONS}/gadgets.contract.example.com`, undefined, quiet),
    get(`${GADGETS}/g`, { shows: ['metadata.finalizers'] }),
    get(`${DEFINITIONS}/gadgets.contract.example.com`, { shows: terminating }),
    post(GADGETS, gadget('late', {})),
    patch('merge', `${GADGETS}/g`, { metadata: { finalizers: null } }, quiet),
    get(`${DEFINITIONS}/gadgets.contract.example.com`, { until: 404 }),
  ),
]

interface Discovered {
  readonly name: string
  readonly kind: string
  readonly verbs: readonly string[]
}

function resourcesOf(body: unknown): unknown {
  const { resources } = body as { readonly resources: readonly Discovered[] }
  return resources
    .map(({ verbs, ...rest }) => ({ ...rest, storageVersionHash: '', verbs: verbs.toSorted() }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function ownGroup(body: unknown): unknown {
  const { items } = body as {
    readonly items: readonly {
      readonly metadata: { readonly name: string }
      readonly versions: readonly {
        readonly version: string
        readonly resources: readonly { readonly resource: string; readonly scope: string }[]
      }[]
    }[]
  }
  const own = items.find(({ metadata }) => metadata.name === 'contract.example.com')
  return own?.versions.map((each) => [
    each.version,
    each.resources.map(({ resource, scope }) => `${resource} ${scope}`).toSorted(),
  ])
}

function openApiOf(body: unknown): unknown {
  const { paths, components } = body as {
    readonly paths: object
    readonly components: {
      readonly schemas: Readonly<
        Record<
          string,
          {
            readonly properties: { readonly spec: { readonly properties: object } }
            readonly 'x-kubernetes-group-version-kind': unknown
          }
        >
      >
    }
  }
  const gadgets = components.schemas['com.example.contract.v1.Gadget']
  return {
    hasPath: Object.hasOwn(paths, '/apis/contract.example.com/v1/namespaces/{namespace}/gadgets/{name}'),
    spec: gadgets?.properties.spec,
    kind: gadgets?.['x-kubernetes-group-version-kind'],
  }
}

function terminating(body: unknown): unknown {
  const { metadata, status } = body as {
    readonly metadata: { readonly finalizers: unknown }
    readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] }
  }
  return {
    finalizers: metadata.finalizers,
    terminating: status.conditions.filter(({ type }) => type === 'Terminating').map((each) => each.status),
  }
}

const gadgetSchema = (more: Fields = {}) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: { replicas: { type: 'integer', description: 'How many.' }, mode: { type: 'string' }, ...more },
      },
      status: {
        type: 'object',
        properties: { replicas: { type: 'integer' }, selector: { type: 'string' }, since: { type: 'string' } },
      },
    },
  },
})
const subresources = {
  status: {},
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
}
const columns = [
  { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', description: 'How many.' },
  { name: 'Mode', type: 'string', jsonPath: '.spec.mode', priority: 1 },
  { name: 'Ready', type: 'boolean', jsonPath: '.status.ready' },
  { name: 'Missing', type: 'string', jsonPath: '.spec.missing' },
  { name: 'Wrong', type: 'integer', jsonPath: '.spec.mode' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
]
const gadgetDefinition = definition('Gadget', {
  names: { plural: 'gadgets', kind: 'Gadget', shortNames: ['gd'], categories: ['contract'] },
  versions: [
    version('v1', {
      schema: gadgetSchema(),
      subresources,
      additionalPrinterColumns: columns,
      selectableFields: [{ jsonPath: '.spec.mode' }],
    }),
    version('v2', { schema: gadgetSchema({ only2: { type: 'string' }, added: { type: 'string', default: 'new' } }) }),
    version('v1beta1', { schema: gadgetSchema(), deprecated: true }),
    version('v0', { schema: gadgetSchema(), served: false }),
  ],
})

export const customObjects: ContractTable = {
  name: 'custom-objects',
  cases: [
    each(
      'definitions',
      post(DEFINITIONS, definition('Widget', {}, { schema: { openAPIV3Schema: schema } }), quiet),
      post(DEFINITIONS, gadgetDefinition, quiet),
      get(WIDGETS, { until: 200, ...quiet }),
      get(GADGETS_2, { until: 200, ...quiet }),
    ),
    ...valueCases,
    ...applyCases,
    ...otherCases,
    ...gadgetCases,
    each(
      'definitions are removed',
      remove(`${DEFINITIONS}/widgets.contract.example.com`, undefined, quiet),
      get(`${DEFINITIONS}/widgets.contract.example.com`, { until: 404, ...quiet }),
    ),
  ],
}
