import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Volume } from '../../../model/generated/core-v1.ts'
import { isLocalEphemeral } from './is-local-ephemeral.ts'

describe('isLocalEphemeral()', () => {
  const rows: readonly (readonly [what: string, volume: Omit<Volume, 'name'>, expected: boolean])[] = [
    ['an emptyDir on the disk', { emptyDir: {} }, true],
    ['an emptyDir in memory', { emptyDir: { medium: 'Memory' } }, false],
    ['a configMap', { configMap: { name: 'c' } }, true],
    ['a secret', { secret: { secretName: 's' } }, false],
    ['a hostPath', { hostPath: { path: '/' } }, false],
  ]
  for (const [what, volume, expected] of rows)
    test(`is ${expected} for ${what}`, () => {
      assert.equal(isLocalEphemeral({ kind: 'inline', volume: { name: 'v', ...volume } }), expected)
    })

  test('is false for a claim', () => {
    const claim = { namespace: 'shop', name: 'data' }
    assert.equal(isLocalEphemeral({ kind: 'persistent', volume: { metadata: { name: 'pv' } }, claim }), false)
  })
})
