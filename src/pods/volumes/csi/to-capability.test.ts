import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CsiCapability } from '../../../protocols/csi/csi-drivers.ts'
import { createDesiredVolume } from '../../../../test/builders/create-desired-volume.ts'
import { toCapability } from './to-capability.ts'
import { toCsiVolume } from './to-csi-volume.ts'

const volume = { ...toCsiVolume(createDesiredVolume({ csi: { driver: 'd' } })), mountOptions: ['noatime'] }
const modeOf = (mode: string | undefined, ...can: readonly CsiCapability[]) =>
  toCapability({ ...volume, accessModes: mode === undefined ? [] : [mode, 'ReadWriteMany'] }, new Set(can), undefined)
    .accessMode

test('toCapability() takes the first access mode, more exactly where the driver knows more', () => {
  const rows = [
    ['ReadWriteOnce', 'SINGLE_NODE_WRITER', 'SINGLE_NODE_MULTI_WRITER'],
    ['ReadWriteOncePod', 'SINGLE_NODE_WRITER', 'SINGLE_NODE_SINGLE_WRITER'],
    ['ReadOnlyMany', 'MULTI_NODE_READER_ONLY', 'MULTI_NODE_READER_ONLY'],
    ['ReadWriteMany', 'MULTI_NODE_MULTI_WRITER', 'MULTI_NODE_MULTI_WRITER'],
    [undefined, 'SINGLE_NODE_WRITER', 'SINGLE_NODE_MULTI_WRITER'],
  ] as const
  for (const [mode, plain, finer] of rows)
    assert.deepEqual([modeOf(mode), modeOf(mode, 'SINGLE_NODE_MULTI_WRITER')], [plain, finer])
})

test('toCapability() hands the group on only to a driver that sees to it, and nothing of a file system for a device', () => {
  const access = { kind: 'mount', fsType: '', mountFlags: ['noatime'], group: undefined }
  assert.deepEqual(toCapability(volume, new Set(), 7).access, access)
  assert.deepEqual(toCapability(volume, new Set(['VOLUME_MOUNT_GROUP']), 7).access, { ...access, group: 7 })
  assert.deepEqual(toCapability({ ...volume, use: 'device' }, new Set(['VOLUME_MOUNT_GROUP']), 7).access, {
    kind: 'block',
  })
})
