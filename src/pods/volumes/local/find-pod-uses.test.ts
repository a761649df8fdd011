import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseMountTable } from '../../../system/mounts/mount-table.ts'
import { findPodUses } from './find-pod-uses.ts'

const table = parseMountTable(
  [
    '1 0 8:1 / / rw - ext4 /dev/sda1 rw',
    '2 1 8:2 / /mnt/disk rw - ext4 /dev/sda2 rw',
    '3 1 8:1 /mnt/a /k/pods/u-1/volumes/l/a rw - ext4 /dev/sda1 rw',
    '4 1 8:1 /mnt/a/sub /k/pods/u-2/volumes/l/sub rw - ext4 /dev/sda1 rw',
    '5 1 8:2 / /k/pods/u-3/volumes/l/disk rw - ext4 /dev/sda2 rw',
    '6 1 8:2 /mnt/a /k/pods/u-4/volumes/l/other rw - ext4 /dev/sda2 rw',
    '7 1 8:1 /mnt/a /srv/a rw - ext4 /dev/sda1 rw',
    '8 1 8:1 /exported /srv/b rw - ext4 /dev/sda1 rw',
    '9 1 8:1 /exported/c /k/pods/u-5/volumes/l/c rw - ext4 /dev/sda1 rw',
  ].join('\n'),
)

const rows: readonly (readonly [string, source: string, readonly string[]])[] = [
  ['a directory', '/mnt/a', ['/k/pods/u-1/volumes/l/a']],
  ['a directory inside it', '/mnt/a/sub', ['/k/pods/u-2/volumes/l/sub']],
  ['a whole file system', '/mnt/disk', ['/k/pods/u-3/volumes/l/disk']],
  ['a directory of it', '/mnt/disk/mnt/a', ['/k/pods/u-4/volumes/l/other']],
  ['a directory through another bind', '/srv/b/c', ['/k/pods/u-5/volumes/l/c']],
  ['one that no pod has', '/mnt/b', []],
]

describe('findPodUses()', () => {
  for (const [name, source, expected] of rows) {
    test(`finds the pods with ${name}`, () => assert.deepEqual(findPodUses(table, source, '/k/pods'), expected))
  }
})
