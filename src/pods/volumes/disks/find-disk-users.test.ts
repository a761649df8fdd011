import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePodUid } from '../../../model/pod/pod.ts'
import { parseMountTable } from '../../../system/mounts/mount-table.ts'
import { findMountLabel, findDeviceFolder, findDiskUsers } from './find-disk-users.ts'

const table = parseMountTable(
  [
    '1 0 8:1 / / rw - ext4 /dev/sda1 rw',
    '2 1 8:16 / /k/plugins/p/a rw - ext4 /dev/sdb rw,context="u:r:t:s0:c1,c2",data=ordered',
    '3 1 8:16 / /k/pods/u-1/volumes/p/v rw - ext4 /dev/sdb rw',
    '4 1 8:32 / /k/plugins/p/b rw - ext4 /dev/sdc rw,context=u:r:t:s0,x',
    '5 1 0:5 /sdd /k/plugins/p/volumeDevices/c/u-2 rw - devtmpfs dev rw',
    '6 1 0:5 /sde /k/plugins/p/volumeDevices/d/u-2 rw - devtmpfs dev rw',
  ].join('\n'),
)
const place = (uid: string, path: string) => ({ uid: parsePodUid(uid), specName: 'v', path })
const places = [place('u-1', '/k/pods/u-1/volumes/p/v'), place('u-2', '/k/pods/u-2/volumeDevices/p/v')]
const links = new Map([['/k/pods/u-2/volumeDevices/p/v', '/dev/sde']])

test('the pods of a disk are found by what the kernel has mounted', () => {
  const usersOf = (staging: string, use: 'files' | 'device') =>
    findDiskUsers(table, { staging, use }, places, links).map(({ uid }) => uid)
  assert.deepEqual(usersOf('/k/plugins/p/a', 'files'), ['u-1'])
  assert.deepEqual(usersOf('/k/plugins/p/b', 'files'), [])
  assert.deepEqual(usersOf('/k/plugins/p/none', 'files'), [])
  assert.deepEqual(usersOf('/k/plugins/p/volumeDevices/c', 'device'), [])
  assert.deepEqual(usersOf('/k/plugins/p/volumeDevices/d', 'device'), ['u-2'])
})

test('the folder of a device is found by its pod and where its link leads', () => {
  const root = '/k/plugins/p/volumeDevices'
  assert.equal(findDeviceFolder(table, { root, uid: 'u-2', device: '/dev/sde' }), `${root}/d`)
  assert.equal(findDeviceFolder(table, { root, uid: 'u-2', device: undefined }), undefined)
  assert.equal(findDeviceFolder(table, { root, uid: 'u-3', device: '/dev/sde' }), undefined)
})

test('the SELinux label of a mount is read, quoted or not', () => {
  const labels = ['a', 'b', 'c'].map((name) => findMountLabel(table, `/k/plugins/p/${name}`))
  assert.deepEqual(labels, ['u:r:t:s0:c1,c2', 'u:r:t:s0', ''])
})
