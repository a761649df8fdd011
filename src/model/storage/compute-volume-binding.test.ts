import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec } from '../generated/core-v1.ts'
import { computeVolumeBinding } from './compute-volume-binding.ts'

function volume(
  name: string,
  spec: PersistentVolumeSpec = {},
  others: Partial<PersistentVolume> = {},
): PersistentVolume {
  const filled = { capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], ...spec }
  return { metadata: { name }, spec: filled, status: { phase: 'Available' }, ...others }
}

function claim(spec: PersistentVolumeClaim['spec'] = {}): PersistentVolumeClaim {
  const filled = { resources: { requests: { storage: '5Gi' } }, accessModes: ['ReadWriteOnce'], ...spec }
  return { metadata: { name: 'c', namespace: 'n', uid: 'u' }, spec: filled }
}

describe('computeVolumeBinding()', () => {
  const rows: readonly (readonly [string, PersistentVolumeClaim, readonly PersistentVolume[], string | undefined])[] = [
    ['none', claim(), [], undefined],
    ['one that suits', claim(), [volume('a')], 'a'],
    ['the smallest', claim(), [volume('a'), volume('b', { capacity: { storage: '6Gi' } })], 'b'],
    [
      'the fewest modes, then the smallest',
      claim(),
      [
        volume('a', { accessModes: ['ReadWriteOnce', 'ReadWriteMany'], capacity: { storage: '5Gi' } }),
        volume('b', { capacity: { storage: '9Gi' } }),
        volume('c', { capacity: { storage: '8Gi' } }),
      ],
      'c',
    ],
    ['too small', claim(), [volume('a', { capacity: { storage: '4Gi' } })], undefined],
    ['another class', claim({ storageClassName: 'fast' }), [volume('a')], undefined],
    [
      'the same class',
      claim({ storageClassName: 'fast' }),
      [volume('a'), volume('b', { storageClassName: 'fast' })],
      'b',
    ],
    ['another mode', claim({ accessModes: ['ReadWriteMany'] }), [volume('a')], undefined],
    ['blocks', claim({ volumeMode: 'Block' }), [volume('a'), volume('b', { volumeMode: 'Block' })], 'b'],
    ['by name', claim({ volumeName: 'a' }), [volume('b', { capacity: { storage: '6Gi' } }), volume('a')], 'a'],
    ['by name, too small', claim({ volumeName: 'a' }), [volume('a', { capacity: { storage: '1Gi' } })], undefined],
    [
      'by name on both sides, whatever its size',
      claim({ volumeName: 'a' }),
      [volume('a', { capacity: { storage: '1Gi' }, claimRef: { namespace: 'n', name: 'c' } })],
      'a',
    ],
    ['by a name that is not there', claim({ volumeName: 'x' }), [volume('a')], undefined],
    ['kept for this claim', claim(), [volume('a'), volume('b', { claimRef: { namespace: 'n', name: 'c' } })], 'b'],
    ['kept for another', claim(), [volume('a', { claimRef: { namespace: 'n', name: 'd' } })], undefined],
    [
      'kept for an older claim of this name',
      claim(),
      [volume('a', { claimRef: { namespace: 'n', name: 'c', uid: 'old' } })],
      undefined,
    ],
    ['released', claim(), [volume('a', {}, { status: { phase: 'Released' } })], undefined],
    ['being deleted', claim(), [volume('a', {}, { metadata: { name: 'a', deletionTimestamp: 'x' } })], undefined],
    [
      'by label',
      claim({ selector: { matchLabels: { disk: 'ssd' } } }),
      [volume('a'), volume('b', {}, { metadata: { name: 'b', labels: { disk: 'ssd' } } })],
      'b',
    ],
    [
      'by an expression',
      claim({ selector: { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] } }),
      [volume('a')],
      undefined,
    ],
  ]
  for (const [name, desired, volumes, expected] of rows) {
    test(name, () => assert.equal(computeVolumeBinding(desired, volumes)?.metadata?.name, expected))
  }

  test('a claim that waits for its first pod gets only what is named', () => {
    const reserved = volume('b', { claimRef: { namespace: 'n', name: 'c' } })
    assert.equal(computeVolumeBinding(claim(), [volume('a')], true), undefined)
    assert.equal(computeVolumeBinding(claim(), [volume('a'), reserved], true), reserved)
    assert.equal(computeVolumeBinding(claim({ volumeName: 'a' }), [volume('a')], true)?.metadata?.name, 'a')
  })
})
