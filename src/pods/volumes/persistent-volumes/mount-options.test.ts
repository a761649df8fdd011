import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { joinMountOptions, mountOptionsOf } from './mount-options.ts'
import { volumeGroupsOf } from './volume-groups.ts'

describe('mountOptionsOf()', () => {
  test('takes the field, unless the old annotation is there', () => {
    const spec = { mountOptions: ['soft', 'nolock'] }
    assert.deepEqual(mountOptionsOf({ spec }), ['soft', 'nolock'])
    const annotations = { 'volume.beta.kubernetes.io/mount-options': 'hard,ro' }
    assert.deepEqual(mountOptionsOf({ spec, metadata: { annotations } }), ['hard', 'ro'])
    assert.deepEqual(mountOptionsOf({}), [])
  })
})

describe('joinMountOptions()', () => {
  test('has each option once, sorted', () => {
    assert.deepEqual(joinMountOptions(['soft', 'ro'], ['ro'], ['nolock']), ['nolock', 'ro', 'soft'])
  })
})

describe('volumeGroupsOf()', () => {
  const rows: readonly (readonly [gid: string, readonly number[]])[] = [
    ['1234', [1234]],
    ['x', []],
    ['-1', []],
    ['', []],
    ['99999999999999999999', []],
  ]
  for (const [gid, expected] of rows) {
    test(`of the annotation "${gid}" is ${JSON.stringify(expected)}`, () => {
      const volume = { metadata: { annotations: { 'pv.beta.kubernetes.io/gid': gid } } }
      const claim = { namespace: 'shop', name: 'c' }
      assert.deepEqual(volumeGroupsOf({ kind: 'persistent', volume, claim }), expected)
    })
  }

  test('is nothing for a volume of the pod itself', () => {
    assert.deepEqual(volumeGroupsOf({ kind: 'inline', volume: { name: 'v' } }), [])
  })
})
