import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findMountOf, mountPointsBelow, parseMountTable, readMountTable } from './mount-table.ts'

const TEXT = [
  '24 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=continue',
  '30 24 0:26 / /state rw,nosuid - tmpfs tmpfs rw,size=1k',
  '31 24 0:27 / /state-of-others rw - tmpfs tmpfs rw',
  '32 30 0:28 /in\\134side /state/a\\040b/merged ro shared:5 master:2 propagate_from:1 - overlay over\\011lay rw,lowerdir=/x',
  '33 32 0:29 / /state/a\\040b/merged/x rw unbindable - tmpfs  rw',
  '34 24 0:30 / /state-of-others rw - nfs4 server:/ - rw',
  'not a line',
  '',
].join('\n')
const table = parseMountTable(TEXT)

describe('parseMountTable()', () => {
  test('reads a line with all its parts', () => {
    assert.deepEqual(table[3], {
      id: 32,
      parentId: 30,
      device: '0:28',
      root: '/in\\side',
      point: '/state/a b/merged',
      options: ['ro'],
      isShared: true,
      fileSystem: 'overlay',
      source: 'over\tlay',
      superOptions: ['rw', 'lowerdir=/x'],
    })
  })

  test('reads any number of optional fields, and a source without a name', () => {
    assert.deepEqual(
      table.map(({ point, isShared, fileSystem, source }) => [point, isShared, fileSystem, source]),
      [
        ['/', true, 'ext4', '/dev/vda'],
        ['/state', false, 'tmpfs', 'tmpfs'],
        ['/state-of-others', false, 'tmpfs', 'tmpfs'],
        ['/state/a b/merged', true, 'overlay', 'over\tlay'],
        ['/state/a b/merged/x', false, 'tmpfs', ''],
        ['/state-of-others', false, 'nfs4', 'server:/'],
      ],
    )
  })

  test('reads a line however long', () => {
    const layers = Array.from({ length: 5000 }, (_, index) => `/layers/${index}`).join(':')
    const [entry] = parseMountTable(`1 1 0:1 / /x rw - overlay overlay rw,lowerdir=${layers}\n`)
    assert.deepEqual(entry?.superOptions, ['rw', `lowerdir=${layers}`])
  })

  test('mountPointsBelow() has the mounts of a folder, latest first', () => {
    assert.deepEqual(mountPointsBelow(table, '/state'), ['/state/a b/merged/x', '/state/a b/merged', '/state'])
  })

  test('findMountOf() finds the deepest and there the latest mount around a path', () => {
    const rows: readonly (readonly [path: string, id: number])[] = [
      ['/', 24],
      ['/etc', 24],
      ['/state', 30],
      ['/state/a', 30],
      ['/state/a b/merged/x/y', 33],
      ['/state-of-others/x', 34],
    ]
    for (const [path, id] of rows) assert.equal(findMountOf(table, path)?.id, id, path)
    assert.equal(findMountOf([], '/x'), undefined)
  })

  test('readMountTable() has the root of this machine', async () => {
    assert.ok((await readMountTable()).some(({ point }) => point === '/'))
  })
})
