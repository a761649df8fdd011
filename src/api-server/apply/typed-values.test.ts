import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DocumentObject, DocumentValue } from '../../base/document/document-value.ts'
import { appliedFields } from './applied-fields.ts'
import { builtinSchema, withEmbedded } from './builtin-schema.ts'
import { checkValue } from './check-value.ts'
import { compareValues } from './compare-values.ts'
import { mergeValues } from './merge-values.ts'
import { FieldSet } from './field-set.ts'
import { removeFields } from './remove-fields.ts'
import { customResourceSchema, structuralSchema } from './structural-schema.ts'

const POD = builtinSchema('Pod')
const pod = (spec: DocumentObject): DocumentObject => ({ spec })
const containers = (...names: readonly string[]) => pod({ containers: names.map((name) => ({ name })) })

describe('appliedFields()', () => {
  const rows: readonly (readonly [string, DocumentObject, object])[] = [
    ['a scalar', pod({ nodeName: 'a' }), { 'f:spec': { 'f:nodeName': {} } }],
    ['an empty object', pod({ securityContext: {} }), { 'f:spec': { 'f:securityContext': {} } }],
    ['null', pod({ nodeName: null }), { 'f:spec': { 'f:nodeName': {} } }],
    ['a list as one value', pod({ tolerations: [{ key: 'a' }] }), { 'f:spec': { 'f:tolerations': {} } }],
    ['an empty list of items', pod({ containers: [] }), {}],
    ['a map as one value', pod({ nodeSelector: { a: 'b' } }), { 'f:spec': { 'f:nodeSelector': {} } }],
    ['items', containers('a'), { 'f:spec': { 'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} } } } }],
    [
      'a port without its protocol',
      pod({ containers: [{ name: 'a', ports: [{ containerPort: 80 }] }] }),
      {
        'f:spec': {
          'f:containers': {
            'k:{"name":"a"}': {
              '.': {},
              'f:name': {},
              'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
            },
          },
        },
      },
    ],
    [
      'an item that is one value',
      pod({ imagePullSecrets: [{ name: 'a' }] }),
      { 'f:spec': { 'f:imagePullSecrets': { 'k:{"name":"a"}': {} } } },
    ],
    ['a set', { metadata: { finalizers: ['a/b'] } }, { 'f:metadata': { 'f:finalizers': { 'v:"a/b"': {} } } }],
    ['keys of a map', { metadata: { labels: { a: 'b' } } }, { 'f:metadata': { 'f:labels': { 'f:a': {} } } }],
  ]
  for (const [name, value, expected] of rows) {
    test(name, () => assert.deepEqual(appliedFields(value, POD).toJson(), expected))
  }
})

describe('compareValues()', () => {
  const rows: readonly (readonly [string, DocumentObject, DocumentObject, object])[] = [
    ['the same', containers('a'), containers('a'), {}],
    ['a new scalar', pod({}), pod({ nodeName: 'a' }), { added: { 'f:spec': { 'f:nodeName': {} } } }],
    ['another value', pod({ nodeName: 'b' }), pod({ nodeName: 'a' }), { modified: { 'f:spec': { 'f:nodeName': {} } } }],
    ['one that is gone', pod({ nodeName: 'b' }), pod({}), { removed: { 'f:spec': { 'f:nodeName': {} } } }],
    [
      'a new map with its keys',
      { metadata: {} },
      { metadata: { labels: { a: 'b' } } },
      { added: { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } } },
    ],
    [
      'a list that was null',
      pod({ containers: null }),
      containers('a'),
      { added: { 'f:spec': { 'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} } } } } },
    ],
    [
      'items that share their keys',
      containers('a', 'a'),
      containers('a'),
      {
        added: { 'f:spec': { 'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} } } } },
        removed: { 'f:spec': { 'f:containers': { 'k:{"name":"a"}': {} } } },
      },
    ],
    ['the order of items', containers('a', 'b'), containers('b', 'a'), {}],
    ['an absent value', pod({ nodeName: undefined as never }), pod({}), {}],
  ]
  for (const [name, before, after, expected] of rows) {
    test(name, () => {
      const { added, removed, modified } = compareValues(before, after, POD)
      const found = { added: added.toJson(), removed: removed.toJson(), modified: modified.toJson() }
      const differing = Object.entries(found).filter(([, fields]) => Object.keys(fields).length > 0)
      assert.deepEqual(Object.fromEntries(differing), expected)
    })
  }
})

describe('mergeValues()', () => {
  const names = (value: DocumentValue | undefined) =>
    ((value as { spec: { containers: { name: string }[] } }).spec.containers ?? []).map(({ name }) => name).join('')
  const rows: readonly (readonly [string, string, string])[] = [
    ['abc', 'abc', 'abc'],
    ['abc', 'cab', 'cab'],
    ['abc', 'b', 'abc'],
    ['', 'ab', 'ab'],
    ['ab', '', 'ab'],
    ['axb', 'bna', 'xbna'],
    ['abx', 'bac', 'bxac'],
    ['xab', 'ba', 'xba'],
    ['abc', 'dce', 'abdce'],
  ]
  for (const [live, applied, expected] of rows) {
    test(`${live} with ${applied}`, () => {
      const merged = mergeValues(containers(...live.split('')), containers(...applied.split('')), POD)
      assert.equal(names(merged), expected)
    })
  }

  test('replaces what is one value, and merges what is not', () => {
    const live = {
      spec: { tolerations: [{ key: 'a' }], securityContext: { runAsUser: 1 } },
      metadata: { labels: { a: '1' } },
    }
    const applied = { spec: { tolerations: [], securityContext: { fsGroup: 2 } }, metadata: { labels: { b: '2' } } }
    assert.deepEqual(mergeValues(live, applied, POD), {
      spec: { tolerations: [], securityContext: { runAsUser: 1, fsGroup: 2 } },
      metadata: { labels: { a: '1', b: '2' } },
    })
  })
})

test('removeFields() leaves null where nothing is left', () => {
  const fields = FieldSet.of(['f:metadata', 'f:labels', 'f:a'], ['f:spec', 'f:containers', 'k:{"name":"b"}'])
  const value = { metadata: { labels: { a: '1' }, name: 'x' }, ...containers('a', 'b') }
  assert.deepEqual(removeFields(value, fields, POD), { metadata: { labels: null, name: 'x' }, ...containers('a') })
})

test('withEmbedded() has what is never absent', () => {
  assert.deepEqual(withEmbedded({}, 'Deployment'), {
    metadata: {},
    spec: {
      selector: null,
      strategy: {},
      template: { metadata: {}, spec: { containers: null } },
    },
    status: {},
  })
})

describe('checkValue()', () => {
  const rows: readonly (readonly [string, DocumentObject, readonly string[]])[] = [
    ['what fits', containers('a'), []],
    ['null', pod({ nodeName: null }), []],
    ['an unknown field', pod({ foo: 1 }), ['.spec.foo: field not declared in schema']],
    ['a text for a number', pod({ priority: 'x' }), ['.spec.priority: expected numeric (int or float), got string']],
    ['two of one name', containers('a', 'a'), ['.spec.containers: duplicate entries for key [name="a"]']],
    [
      'no item',
      pod({ containers: ['a'] }),
      ['.spec.containers: element 0: associative list with keys may not have non-map elements'],
    ],
    [
      'inside of an item',
      pod({ containers: [{ name: 'a', tty: 1 }] }),
      ['.spec.containers[name="a"].tty: expected boolean, got &{1}'],
    ],
  ]
  for (const [name, value, expected] of rows) {
    test(name, () => assert.deepEqual(checkValue(value, POD), expected))
  }
})

describe('structuralSchema()', () => {
  const schema = customResourceSchema({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          plain: { type: 'array', items: { type: 'string' } },
          set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          map: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name', 'kind'],
            items: {
              type: 'object',
              properties: { name: { type: 'string' }, kind: { type: 'string', default: 'x' }, n: { type: 'integer' } },
            },
          },
          whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'string' } } },
          open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          either: { 'x-kubernetes-int-or-string': true },
        },
      },
    },
  })
  const rows: readonly (readonly [string, DocumentObject, object])[] = [
    ['a list as one value', { plain: ['a'] }, { 'f:plain': {} }],
    ['a set', { set: ['a'] }, { 'f:set': { 'v:"a"': {} } }],
    [
      'items by keys, one by default',
      { map: [{ name: 'a', n: 1 }] },
      { 'f:map': { 'k:{"kind":"x","name":"a"}': { '.': {}, 'f:n': {}, 'f:name': {} } } },
    ],
    ['an object as one value', { whole: { a: 'b' } }, { 'f:whole': {} }],
    ['what is not said', { open: { a: { b: [1] } } }, { 'f:open': { 'f:a': { '.': {}, 'f:b': {} } } }],
    ['a number or text', { either: '5%' }, { 'f:either': {} }],
  ]
  for (const [name, spec, expected] of rows) {
    test(name, () => assert.deepEqual(appliedFields({ spec }, schema).toJson(), { 'f:spec': expected }))
  }

  test('every object has metadata', () => {
    assert.deepEqual(checkValue({ metadata: { labels: { a: 'b' } }, spec: {} }, schema), [])
    assert.deepEqual(checkValue({ metadata: { foo: 1 } }, schema), ['.metadata.foo: field not declared in schema'])
    assert.deepEqual(checkValue({ spec: { foo: 1 } }, schema), ['.spec.foo: field not declared in schema'])
  })

  test('a schema that says nothing takes everything', () => {
    assert.deepEqual(checkValue({ a: [1, { b: null }] }, structuralSchema({})), [])
  })
})
