import assert from 'node:assert/strict'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { createDiskFiles } from './disk-files.ts'

const PLUGIN = 'kubernetes.io/iscsi'

test('createDiskFiles() finds disks where either kubelet has put them, and removes only what is its own and empty', async () => {
  const rootDirectory = makeTemporaryFolder()
  const files = createDiskFiles({ rootDirectory })
  assert.deepEqual(await files.list(PLUGIN, 2), [])
  const disk = files.staging(PLUGIN, 'files', 'iface-default/p-iqn-lun-0')
  const device = files.staging(PLUGIN, 'device', 'iface-default/p-iqn-lun-1')
  assert.equal(device, join(rootDirectory, 'plugins/kubernetes.io/iscsi/volumeDevices/iface-default/p-iqn-lun-1'))
  await files.makeDirectory(disk)
  await files.makeDirectory(device)
  writeFileSync(join(rootDirectory, 'plugins/kubernetes.io/iscsi/iface-default/file'), '')
  assert.deepEqual(await files.list(PLUGIN, 2), [
    { use: 'files', folder: 'iface-default/p-iqn-lun-0', staging: disk },
    { use: 'device', folder: 'iface-default/p-iqn-lun-1', staging: device },
  ])
  mkdirSync(join(rootDirectory, 'plugins/kubernetes.io/fc/w-lun-0'), { recursive: true })
  assert.deepEqual(
    (await files.list('kubernetes.io/fc', 1)).map(({ folder }) => folder),
    ['w-lun-0'],
  )
  const record = join(disk, 'iscsi.json')
  await files.writeRecord(record, '{}')
  assert.equal(await files.readRecord(record), '{}')
  await assert.rejects(files.removeDirectory(disk), { code: 'ENOTEMPTY' })
  await files.removeRecord(record)
  await files.removeDirectory(disk)
  await files.removeDirectory(disk)
  assert.deepEqual([existsSync(disk), await files.readRecord(record)], [false, undefined])
  assert.equal(await files.readRecord(device), undefined)
  symlinkSync('/dev/sda', join(device, 'link'))
  assert.deepEqual([await files.readLink(join(device, 'link')), await files.readLink(device)], ['/dev/sda', undefined])
})
