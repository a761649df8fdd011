import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { compareVersions } from './custom-resource.ts'
import { customColumns } from './custom-columns.ts'
import { hasFormat } from './formats.ts'
import { compileJsonPath } from './json-path.ts'
import { compilePattern, matchesPattern } from './match-pattern.ts'
import type { Schema } from './schema.ts'
import { fillObject, pruneObject } from './shape-value.ts'
import { validateSchema } from './validate-schema.ts'
import { validateValue } from './validate-value.ts'
import { FieldPath } from '../../model/schema/field-path.ts'

const text: Schema = { type: 'string' }
const spec = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, ...more } },
})
const rulesOf = (value: unknown, schema: Schema) =>
  validateValue(value, schema).map(({ path, rule }) => `${path.toString()}: ${rule}`)

describe('pruneObject()', () => {
  const prune = (value: Readonly<Record<string, unknown>>, schema: Schema) => {
    const unknown: string[] = []
    return [pruneObject({ spec: value }, schema, (path) => unknown.push(path))['spec'], unknown]
  }
  test('drops what the schema does not know, and says where', () => {
    assert.deepEqual(prune({ a: 'x', b: 1, c: { d: 1 } }, spec({ a: text })), [{ a: 'x' }, ['spec.b', 'spec.c']])
  })
  test('keeps unknown fields where the schema says so, but not below fields that it knows', () => {
    const schema = spec(
      { known: { type: 'object', properties: { a: text } } },
      { 'x-kubernetes-preserve-unknown-fields': true },
    )
    assert.deepEqual(prune({ known: { a: 'x', b: 'y' }, other: { c: [1] } }, schema), [
      { known: { a: 'x' }, other: { c: [1] } },
      ['spec.known.b'],
    ])
  })
  test('reaches into lists and maps', () => {
    const items = { type: 'object', properties: { a: text } }
    const schema = spec({ list: { type: 'array', items }, map: { type: 'object', additionalProperties: items } })
    assert.deepEqual(prune({ list: [{ a: 'x', b: 1 }], map: { k: { b: 1 } } }, schema), [
      { list: [{ a: 'x' }], map: { k: {} } },
      ['spec.list[0].b', 'spec.map.k.b'],
    ])
  })
  test('an object with a key that is not one of its own is not harmed', () => {
    const value = JSON.parse('{"__proto__": {"a": 1}, "a": "x"}') as Record<string, unknown>
    const [pruned] = prune(value, spec({ a: text }))
    assert.deepEqual(Object.keys(pruned as object), ['a'])
    assert.equal(({} as { a?: unknown }).a, undefined)
  })
})

describe('fillObject()', () => {
  const fill = (value: unknown, schema: Schema) => fillObject({ spec: value }, schema)['spec']
  const schema = spec({
    a: { type: 'integer', default: 3 },
    b: { type: 'object', properties: { c: { type: 'string', default: 'x' } } },
    n: { type: 'string', nullable: true },
    list: { type: 'array', items: { type: 'object', properties: { v: { type: 'integer', default: 7 } } } },
  })
  test('fills what is missing where its parent is there', () => {
    assert.deepEqual(fill({}, schema), { a: 3 })
    assert.deepEqual(fill({ b: {}, list: [{}] }, schema), { a: 3, b: { c: 'x' }, list: [{ v: 7 }] })
  })
  test('null is replaced, dropped or kept', () => {
    assert.deepEqual(fill({ a: null, b: null, n: null }, schema), { a: 3, n: null })
  })
  test('is done when it is done', () => {
    const values = fc.record({
      a: fc.option(fc.integer()),
      b: fc.option(fc.record({ c: fc.option(fc.string()) })),
      list: fc.array(fc.constant({})),
    })
    fc.assert(fc.property(values, (value) => assert.deepEqual(fill(fill(value, schema), schema), fill(value, schema))))
  })
})

describe('validateValue()', () => {
  const cases: readonly (readonly [schema: Schema, value: unknown, rules: readonly string[]])[] = [
    [{ type: 'integer' }, 'x', ['Invalid value: "string": spec.a in body must be of type integer: "string"']],
    [{ enum: ['x', 'y'] }, 'z', ['Unsupported value: "z": supported values: "x", "y"']],
    [{ minimum: 1 }, 0, ['Invalid value: 0: spec.a in body should be greater than or equal to 1']],
    [{ maximum: 5, exclusiveMaximum: true }, 5, ['Invalid value: 5: spec.a in body should be less than 5']],
    [{ multipleOf: 3 }, 4, ['Invalid value: 4: spec.a in body should be a multiple of 3']],
    [{ pattern: '^x$' }, 'q', ['Invalid value: "q": spec.a in body should match \'^x$\'']],
    [{ minLength: 2 }, 'a', ['Invalid value: "a": spec.a in body should be at least 2 chars long']],
    [{ maxLength: 5 }, 'abcdef', ['Too long: may not be more than 5 bytes']],
    [{ maxItems: 2 }, [1, 2, 3], ['Too many: 3: must have at most 2 items']],
    [{ 'x-kubernetes-int-or-string': true }, 5, []],
    [{ 'x-kubernetes-int-or-string': true }, '5%', []],
    [{ type: 'integer' }, 2n ** 62n, []],
  ]
  for (const [schema, value, rules] of cases) {
    test(`${JSON.stringify(schema)} of ${typeof value}`, () => {
      assert.deepEqual(
        rulesOf({ spec: { a: value } }, spec({ a: schema })),
        rules.map((rule) => `spec.a: ${rule}`),
      )
    })
  }
  test('a required field, and a choice that is about no field', () => {
    const schema = spec({ x: text, y: text }, { required: ['x'], oneOf: [{ required: ['x'] }, { required: ['y'] }] })
    assert.deepEqual(rulesOf({ spec: { y: 'a' } }, schema), ['spec.x: Required value'])
    assert.match(rulesOf({ spec: { x: 'a', y: 'b' } }, schema).join(), /Found 2 valid alternatives/)
  })
  test('what is as it was is not held against a change of something else', () => {
    const schema = spec({ a: { type: 'string', maxLength: 1 }, b: text })
    const before = { value: { spec: { a: 'long', b: 'x' } } }
    assert.deepEqual(validateValue({ spec: { a: 'long', b: 'y' } }, schema, FieldPath.root, before), [])
    assert.equal(validateValue({ spec: { a: 'longer', b: 'x' } }, schema, FieldPath.root, before).length, 1)
  })
})

describe('validateSchema()', () => {
  test('rules of the expression language are refused, never taken and ignored', () => {
    const schema = spec({ a: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self != "x"' }] } })
    const [violation, ...others] = validateSchema(schema, false, FieldPath.root)
    assert.deepEqual(others, [])
    assert.equal(violation?.path.toString(), 'properties[spec].properties[a].x-kubernetes-validations')
    assert.equal(violation?.rule, 'Forbidden: validation rules are not supported by this server')
  })
})

describe('patterns', () => {
  test('are those of RE2', () => {
    assert.ok(matchesPattern('^[[:alpha:]]+\\z', 'abc'))
    assert.ok(matchesPattern('(?i)^ABC$', 'abc'))
    assert.equal(compilePattern('a(?=b)'), undefined)
    assert.equal(compilePattern('(a)\\1'), undefined)
  })
  test('one that would take for ever does not match', () => {
    const started = performance.now()
    assert.equal(matchesPattern('^(a+)+$', `${'a'.repeat(40)}!`), false)
    assert.ok(performance.now() - started < 10_000)
    assert.ok(matchesPattern('^a$', 'a'))
  })
})

describe('columns', () => {
  const read = (path: string, object: unknown) => compileJsonPath(path)?.(object)
  test('paths', () => {
    const object = {
      a: {
        'b.c': 1,
        list: [
          { t: 'x', v: 1 },
          { t: 'y', v: 2 },
        ],
      },
    }
    assert.deepEqual(read('.a.b\\.c', object), [1])
    assert.deepEqual(read(".a['b.c']", object), [1])
    assert.deepEqual(read('.a.list[1].v', object), [2])
    assert.deepEqual(read('.a.list[*].v', object), [1, 2])
    assert.deepEqual(read(".a.list[?(@.t=='y')].v", object), [2])
    assert.deepEqual(read('.a.none.v', object), [])
    assert.equal(read('.a[', object), undefined)
  })
  test('cells by type', () => {
    const types = ['string', 'integer', 'number', 'boolean', 'date']
    const columns = customColumns(types.map((type) => ({ name: type, type, jsonPath: '.spec.v' })))
    const cellsOf = (v: unknown) =>
      columns.cells({ apiVersion: '', kind: '', metadata: { name: 'n' }, spec: { v } }, 0).slice(1)
    assert.deepEqual(cellsOf(1.5), ['1.5', 1, 1.5, null, '<invalid>'])
    assert.deepEqual(cellsOf(true), ['true', null, null, true, '<invalid>'])
    assert.deepEqual(cellsOf({ a: 1 }), ['{"a":1}', null, null, null, '<invalid>'])
    assert.deepEqual(cellsOf(undefined), [null, null, null, null, null])
  })
})

test('versions are in the order of discovery', () => {
  const versions = ['v1', 'v11alpha2', 'foo1', 'v3beta1', 'v10', 'v2', 'foo10', 'v12alpha1', 'v11beta2', 'v10beta3']
  assert.deepEqual(versions.toSorted(compareVersions), [
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'foo1',
    'foo10',
  ])
})

test('formats', () => {
  assert.deepEqual(
    [
      ['date', '2026-02-30'],
      ['date', '2026-02-28'],
      ['ipv4', '1.2.3'],
      ['cidr', 'fd00::/8'],
      ['unknown', 'x'],
    ].map(([format = '', value = '']) => hasFormat(value, format)),
    [false, true, false, true, true],
  )
})
