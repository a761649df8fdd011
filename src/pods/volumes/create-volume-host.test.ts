import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VOLUME_PLUGINS } from './compute-volume-plugin.ts'
import { createVolumeHost } from './create-volume-host.ts'
import type { VolumeHostDeps } from './create-volume-host.ts'
import { CSI_PLUGIN } from './csi/csi-names.ts'
import { FC_PLUGIN } from './disks/fc/fc-disk.ts'
import { ISCSI_PLUGIN } from './disks/iscsi/iscsi-disk.ts'

test('createVolumeHost() has a kind for each plugin that a volume can name, and no other', () => {
  const apart = { csi: { plugin: CSI_PLUGIN }, disks: [{ plugin: ISCSI_PLUGIN }, { plugin: FC_PLUGIN }] }
  const deps = { ...apart, host: { openMounter: () => ({}) }, rootDirectory: '/root', objects: {} }
  const { kinds } = createVolumeHost(deps as unknown as VolumeHostDeps)
  assert.deepEqual(kinds.map(({ plugin }) => plugin).sort(), [...VOLUME_PLUGINS].sort())
})
