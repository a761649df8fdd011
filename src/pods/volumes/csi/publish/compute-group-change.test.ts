import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toCsiVolume } from '../to-csi-volume.ts'
import { computeGroupChange } from './compute-group-change.ts'
import { createDesiredVolume } from '../../../../../test/builders/create-desired-volume.ts'

const inline = toCsiVolume(createDesiredVolume({ csi: { driver: 'd', fsType: 'ext4' } }))
const persistent = { ...inline, lifecycle: 'Persistent', accessModes: ['ReadWriteOnce'] } as const
const group = { fsGroup: 7, policy: 'ReadWriteOnceWithFSType', byDriver: false } as const

test('computeGroupChange() goes by the policy of the driver', () => {
  const rows = [
    [persistent, group, true],
    [{ ...persistent, accessModes: ['ReadWriteOncePod'] }, group, true],
    [{ ...persistent, accessModes: ['ReadWriteMany'] }, group, false],
    [{ ...persistent, accessModes: [] }, group, false],
    [{ ...persistent, fsType: '' }, group, false],
    [inline, group, true],
    [{ ...inline, fsType: '' }, group, false],
    [{ ...persistent, accessModes: ['ReadWriteMany'], fsType: '' }, { ...group, policy: 'File' }, true],
    [persistent, { ...group, policy: 'None' }, false],
    [persistent, { ...group, byDriver: true }, false],
    [persistent, { ...group, fsGroup: undefined }, false],
    [{ ...persistent, readOnly: true }, { ...group, policy: 'File' }, false],
  ] as const
  for (const [volume, wanted, expected] of rows)
    assert.equal(computeGroupChange(volume, wanted), expected, JSON.stringify([volume, wanted]))
})
