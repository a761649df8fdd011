import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DocumentObject } from '../../base/document/document-value.ts'
import { builtinSchema } from './builtin-schema.ts'
import { FieldConflictError } from './field-conflicts.ts'
import { capUpdaters, decodeOwners, encodeOwners, sameOwners } from './managed-fields.ts'
import type { FieldOwners } from './managed-fields.ts'
import { trackApply, trackUpdate } from './track-fields.ts'
import type { TrackedPath } from './track-fields.ts'

const path: TrackedPath = {
  apiVersion: 'v1',
  subresource: '',
  versions: new Map([['v1', { schema: builtinSchema('ConfigMap'), toVersion: (object) => object }]]),
  filter: (fields) => fields,
}
const map = (data: DocumentObject): DocumentObject => ({ metadata: { name: 'x' }, data })
const T1 = '2026-01-01T00:00:01Z'
const T2 = '2026-01-01T00:00:02Z'

function apply(owners: FieldOwners, live: DocumentObject, applied: DocumentObject, manager: string, isForced = false) {
  return trackApply(path, owners, { live, applied }, { manager, now: T2, isForced })
}

const show = (owners: FieldOwners) =>
  (encodeOwners(owners) ?? []).map(
    ({ manager, operation, fieldsV1 }) => `${manager} ${operation} ${JSON.stringify(fieldsV1)}`,
  )

describe('trackApply()', () => {
  const first = apply(new Map(), {}, map({ a: '1', b: '1' }), 'm1')
  const live = first.object ?? {}

  test('owns what it says', () => {
    assert.deepEqual(live, map({ a: '1', b: '1' }))
    assert.deepEqual(show(first.owners), ['m1 Apply {"f:data":{"f:a":{},"f:b":{}}}'])
  })

  test('changes nothing the second time, not even its time', () => {
    const again = trackApply(path, first.owners, { live, applied: live }, { manager: 'm1', now: T1, isForced: false })
    assert.equal(again.object, undefined)
    assert.deepEqual(encodeOwners(again.owners), encodeOwners(first.owners))
  })

  test('removes what it no longer says', () => {
    const next = apply(first.owners, live, map({ a: '1' }), 'm1')
    assert.deepEqual(next.object, map({ a: '1' }))
  })

  test('leaves what another owns too', () => {
    const shared = apply(first.owners, live, map({ b: '1' }), 'm2')
    const next = apply(shared.owners, live, map({ a: '1' }), 'm1')
    assert.equal(next.object, undefined)
    // One that changed nothing has no time, and comes first.
    assert.deepEqual(show(next.owners), ['m2 Apply {"f:data":{"f:b":{}}}', 'm1 Apply {"f:data":{"f:a":{}}}'])
  })

  test('is in conflict with another value', () => {
    assert.throws(
      () => apply(first.owners, live, map({ a: '2', b: '2' }), 'm2'),
      (error) =>
        error instanceof FieldConflictError &&
        error.message === 'Apply failed with 2 conflicts: conflicts with "m1":\n- .data.a\n- .data.b',
    )
  })

  test('takes it by force', () => {
    const taken = apply(first.owners, live, map({ a: '2' }), 'm2', true)
    assert.deepEqual(taken.object, map({ a: '2', b: '1' }))
    assert.deepEqual(show(taken.owners), ['m1 Apply {"f:data":{"f:b":{}}}', 'm2 Apply {"f:data":{"f:a":{}}}'])
  })
})

describe('trackUpdate()', () => {
  const writer = { manager: 'u1', now: T1 }
  const owners = trackUpdate(path, new Map(), { before: {}, after: map({ a: '1', b: '1' }) }, writer)

  test('owns what it adds', () => {
    assert.deepEqual(show(owners), ['u1 Update {"f:data":{".":{},"f:a":{},"f:b":{}}}'])
  })

  test('takes what it changes, and forgets what is gone', () => {
    const change = { before: map({ a: '1', b: '1' }), after: map({ a: '2' }) }
    assert.deepEqual(show(trackUpdate(path, owners, change, { manager: 'u2', now: T2 })), [
      'u1 Update {"f:data":{}}',
      'u2 Update {"f:data":{"f:a":{}}}',
    ])
  })

  test('gives no ownership of what is already so', () => {
    const same = { before: map({ a: '1', b: '1' }), after: map({ a: '1', b: '1' }) }
    assert.deepEqual(show(trackUpdate(path, owners, same, { manager: 'u2', now: T2 })), show(owners))
  })

  test('drops owners of a version that is not served', () => {
    const old = decodeOwners([
      { manager: 'x', operation: 'Apply', apiVersion: 'v0', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } },
    ])
    const change = { before: map({}), after: map({ a: '1' }) }
    assert.deepEqual(show(trackUpdate(path, old ?? new Map(), change, writer)), ['u1 Update {"f:data":{"f:a":{}}}'])
  })
})

test('capUpdaters() makes the oldest of a version one', () => {
  const entries = Array.from({ length: 12 }, (_, index) => ({
    manager: `u${String(index).padStart(2, '0')}`,
    operation: 'Update',
    apiVersion: 'v1',
    time: `2026-01-01T00:00:${String(index).padStart(2, '0')}Z`,
    fieldsType: 'FieldsV1',
    fieldsV1: { [`f:k${index}`]: {} },
  }))
  const capped = encodeOwners(capUpdaters(decodeOwners(entries) ?? new Map())) ?? []
  assert.equal(capped.length, 10)
  assert.deepEqual(capped[0], {
    ...entries[2],
    manager: 'ancient-changes',
    fieldsV1: { 'f:k0': {}, 'f:k1': {}, 'f:k2': {} },
  })
})

test('decodeOwners() takes no entry that is none', () => {
  const entry = { manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }
  assert.equal(decodeOwners([entry])?.size, 1)
  for (const bad of [{ operation: 'Do' }, { apiVersion: '' }, { fieldsType: 'V2' }]) {
    assert.equal(decodeOwners([{ ...entry, ...bad }]), undefined)
  }
})

test('sameOwners() ignores times', () => {
  const entry = { manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }
  assert.ok(sameOwners([{ ...entry, time: T1 }], [{ ...entry, time: T2 }]))
  assert.ok(!sameOwners([entry], [{ ...entry, manager: 'y' }]))
})
