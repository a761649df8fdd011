import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compareCsiVersions, parseCsiVersion } from './parse-csi-version.ts'

const refusal = (offered: string) => ({
  message: `Cannot register CSI driver "disk": it offers the versions ${offered}, expected one that is 1.x`,
})

describe('parseCsiVersion()', () => {
  const taken: readonly (readonly [readonly string[], readonly number[]])[] = [
    [['1.0.0'], [1, 0, 0]],
    [[' v1.2 '], [1, 2]],
    [
      ['1.9.0', '1.10.0', '1.2.0'],
      [1, 10, 0],
    ],
    [
      ['0.3.0', '1.1.0', '2.0.0'],
      [1, 1, 0],
    ],
    [
      ['what', '1.4.0-rc1'],
      [1, 4, 0],
    ],
  ]
  for (const [offered, version] of taken) {
    test(`takes ${version.join('.')} of ${offered.join(', ')}`, () => {
      assert.deepEqual(parseCsiVersion('disk', offered), version)
    })
  }

  for (const offered of [['0.3.0'], ['2.0.0'], ['1'], ['01.2'], ['new'], ['0.3.0', '2.0.0']]) {
    test(`refuses ${offered.join(', ')}`, () => {
      assert.throws(() => parseCsiVersion('disk', offered), refusal(offered.join(', ')))
    })
  }

  test('refuses a driver without any', () => {
    assert.throws(() => parseCsiVersion('disk', []), refusal('none'))
  })
})

test('compareCsiVersions() compares numbers, and knows that 1.2 is 1.2.0', () => {
  const signs = [
    compareCsiVersions([1, 9], [1, 10]),
    compareCsiVersions([1, 2], [1, 2, 0]),
    compareCsiVersions([1, 2, 1], [1, 2]),
  ].map(Math.sign)
  assert.deepEqual(signs, [-1, 0, 1])
})
