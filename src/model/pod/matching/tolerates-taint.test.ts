import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Taint, Toleration } from '../../generated/core-v1.ts'
import { toleratesTaint } from './tolerates-taint.ts'

const TAINT: Taint = { key: 'disk', value: 'slow', effect: 'NoExecute' }

describe('toleratesTaint()', () => {
  const rows: readonly (readonly [Toleration, boolean, Partial<Taint>?])[] = [
    [{ key: 'disk', value: 'slow' }, true],
    [{ key: 'disk', operator: 'Equal', value: 'slow', effect: 'NoExecute' }, true],
    [{ key: 'disk', operator: 'Equal', value: 'fast' }, false],
    [{ key: 'disk', operator: 'Exists' }, true],
    [{ key: 'disk', operator: 'Exists', effect: 'NoSchedule' }, false],
    [{ key: 'net', operator: 'Exists' }, false],
    [{ operator: 'Exists' }, true],
    [{ key: 'disk' }, false],
    [{ key: 'disk' }, true, { value: '' }],
    [{ key: 'disk', operator: 'Odd', value: 'slow' }, false],
    [{ key: 'disk', operator: 'Lt', value: '10' }, true, { value: '9' }],
    [{ key: 'disk', operator: 'Lt', value: '10' }, false, { value: '10' }],
    [{ key: 'disk', operator: 'Gt', value: '-3' }, true, { value: '-2' }],
    [{ key: 'disk', operator: 'Gt', value: '1' }, false, { value: '01' }],
    [{ key: 'disk', operator: 'Gt', value: 'one' }, false, { value: '2' }],
  ]
  for (const [toleration, expected, taint] of rows) {
    test(`${JSON.stringify(toleration)} ${expected ? 'bears' : 'does not bear'} ${JSON.stringify({ ...TAINT, ...taint })}`, () => {
      assert.equal(toleratesTaint([toleration], { ...TAINT, ...taint }, { comparisons: true }), expected)
    })
  }

  test('compares numbers only where that is switched on', () => {
    const toleration = { key: 'disk', operator: 'Lt', value: '10' }
    assert.equal(toleratesTaint([toleration], { ...TAINT, value: '9' }, { comparisons: false }), false)
  })

  test('nothing tolerates nothing', () => {
    assert.equal(toleratesTaint(undefined, TAINT, { comparisons: true }), false)
  })
})
