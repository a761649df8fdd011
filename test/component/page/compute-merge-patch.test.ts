import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeMergePatch, findConflict } from '../../../src/page/client/actions/compute-merge-patch.ts'

for (const [name, before, after, patch] of [
  ['nothing', { a: { b: [1] } }, { a: { b: [1] } }, {}],
  ['a value', { a: 1, b: 2 }, { a: 1, b: 3 }, { b: 3 }],
  ['a value inside', { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { a: { c: 3 } }],
  ['what is gone', { a: { b: 1, c: 2 }, d: 1 }, { a: { b: 1 } }, { d: null, a: { c: null } }],
  ['what is new', { a: {} }, { a: { b: { c: 1 } } }, { a: { b: { c: 1 } } }],
  ['a list, whole', { a: [1, 2] }, { a: [1, 3] }, { a: [1, 3] }],
  ['fields for a list', { a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }],
] as const)
  test(`computeMergePatch() has ${name}`, () => assert.deepEqual(computeMergePatch(before, after), patch))

for (const [name, ours, theirs, conflict] of [
  ['another field', { a: 1 }, { b: 2 }, undefined],
  ['the same value', { a: [1] }, { a: [1] }, undefined],
  ['another value', { spec: { replicas: 2 } }, { spec: { replicas: 3 } }, 'spec.replicas'],
  ['a list', { spec: { list: [1] }, a: 1 }, { spec: { list: [2] } }, 'spec.list'],
  ['fields that we remove', { a: null }, { a: { b: 1 } }, 'a'],
] as const)
  test(`findConflict() with a patch of others that sets ${name}`, () =>
    assert.equal(findConflict(ours, theirs), conflict))
