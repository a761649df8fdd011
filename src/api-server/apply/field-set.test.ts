import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { array, assert as assertProperty, constantFrom, property } from 'fast-check'
import { builtinSchema } from './builtin-schema.ts'
import { FieldSet, formatPath } from './field-set.ts'

const A = ['f:a']
const AB = ['f:a', 'f:b']
const AC = ['f:a', 'f:c']

describe('FieldSet', () => {
  const rows: readonly (readonly [string, FieldSet, object])[] = [
    ['a leaf', FieldSet.of(A), { 'f:a': {} }],
    ['what leads to a leaf', FieldSet.of(AB), { 'f:a': { 'f:b': {} } }],
    ['both', FieldSet.of(A, AB), { 'f:a': { '.': {}, 'f:b': {} } }],
    ['nothing', FieldSet.of(), {}],
    ['union', FieldSet.of(AB).union(FieldSet.of(AC)), { 'f:a': { 'f:b': {}, 'f:c': {} } }],
    ['difference, exactly', FieldSet.of(A, AB).difference(FieldSet.of(A)), { 'f:a': { 'f:b': {} } }],
    ['without what is below too', FieldSet.of(A, AB, ['f:x']).without(FieldSet.of(A)), { 'f:x': {} }],
    ['intersection', FieldSet.of(A, AB).intersection(FieldSet.of(AB, AC)), { 'f:a': { 'f:b': {} } }],
    [
      'only some items of a list',
      FieldSet.of(['f:l', 'k:{"n":1}', 'f:x'], ['f:l', 'k:{"n":1}', 'f:y']).onlyBelow([['f:l', '*', 'f:x']]),
      { 'f:l': { 'k:{"n":1}': { 'f:x': {} } } },
    ],
    [
      'declared fields above',
      FieldSet.of(['f:spec', 'f:nodeName']).withNamedFields(builtinSchema('Pod')),
      { 'f:spec': { '.': {}, 'f:nodeName': {} } },
    ],
    [
      'keys of maps above are not declared',
      FieldSet.of(['f:metadata', 'f:labels', 'f:a']).withNamedFields(builtinSchema('Pod')),
      { 'f:metadata': { '.': {}, 'f:labels': { '.': {}, 'f:a': {} } } },
    ],
  ]
  for (const [name, set, expected] of rows) {
    test(name, () => {
      assert.deepEqual(set.toJson(), expected)
      assert.deepEqual(FieldSet.fromJson(expected).toJson(), expected)
    })
  }

  test('leaves out elements of unknown kinds', () => {
    assert.deepEqual(FieldSet.fromJson({ 'x:1': {}, 'f:a': {}, b: {} }).toJson(), { 'f:a': {} })
  })

  test('sorts fields before items', () => {
    const set = FieldSet.of(['v:"b"'], ['k:{"a":1}'], ['f:z'], ['f:a'], ['i:0'])
    assert.deepEqual(Object.keys(set.toJson()), ['f:a', 'f:z', 'k:{"a":1}', 'v:"b"', 'i:0'])
    assert.deepEqual([...set.paths()].flat(), ['f:a', 'f:z', 'k:{"a":1}', 'v:"b"', 'i:0'])
  })

  test('knows keys only as their own', () => {
    const json = JSON.parse('{"f:__proto__":{"f:constructor":{}}}') as object
    assert.deepEqual(FieldSet.fromJson(json).toJson(), json)
  })

  const path = array(constantFrom('f:a', 'f:b', 'k:{"n":1}', 'v:2'), { minLength: 1, maxLength: 4 })
  const sets = array(path, { maxLength: 8 }).map((paths) => FieldSet.of(...paths))

  test('what two share and what they do not is all of one', () => {
    assertProperty(
      property(sets, sets, (a, b) => {
        assert.deepEqual(a.difference(b).union(a.intersection(b)).toJson(), a.toJson())
        assert.deepEqual(a.difference(b).intersection(b).toJson(), {})
        assert.deepEqual(a.union(b).toJson(), b.union(a).toJson())
      }),
    )
  })

  test('has what it was made of', () => {
    assertProperty(
      property(array(path, { minLength: 1, maxLength: 8 }), (paths) => {
        const set = FieldSet.fromJson(FieldSet.of(...paths).toJson())
        assert.ok(paths.every((each) => set.has(each)))
        assert.equal([...set.paths()].length, new Set(paths.map((each) => each.join('/'))).size)
      }),
    )
  })
})

test('formatPath()', () => {
  const path = ['f:spec', 'k:{"containerPort":80,"protocol":"TCP"}', 'v:"x"', 'i:3', 'f:a.b/c']
  assert.equal(formatPath(path), '.spec[containerPort=80,protocol="TCP"][="x"][3].a.b/c')
})
