import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  mountPointsBelow,
  mountsOnTheWay,
  outerMountPointsBelow,
  parseMountTable,
  readMountTable,
} from './mount-table.ts'

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

  test('outerMountPointsBelow() has those that are in no other one, each once', () => {
    assert.deepEqual(outerMountPointsBelow(table, '/state'), ['/state/a b/merged'])
    assert.deepEqual(outerMountPointsBelow(table, '/state/a b/merged/x'), [])
  })

  test('mountsOnTheWay() goes from the root to the mount of a path', () => {
    const rows: readonly (readonly [path: string, ids: readonly number[]])[] = [
      ['/', [24]],
      ['/etc', [24]],
      ['/state', [24, 30]],
      ['/state/a', [24, 30]],
      ['/state/a b/merged/x/y', [24, 30, 32, 33]],
    ]
    for (const [path, ids] of rows)
      assert.deepEqual(
        mountsOnTheWay(table, path).map(({ id }) => id),
        ids,
        path,
      )
    assert.deepEqual(mountsOnTheWay([], '/x'), [])
  })

  test('mountsOnTheWay() knows what a later mount hides, and stacks', () => {
    const hiding = parseMountTable(
      [
        '1 0 8:1 / / rw - ext4 d rw',
        '2 1 0:2 / /a/below rw - tmpfs hidden rw',
        '3 1 8:1 /a /a rw shared:1 - ext4 d rw',
        '4 3 0:2 / /a/below rw shared:2 - tmpfs seen rw',
        '5 4 0:5 / /a/below rw - tmpfs top rw',
      ].join('\n'),
    )
    assert.deepEqual(
      mountsOnTheWay(hiding, '/a/below').map(({ id }) => id),
      [1, 3, 4, 5],
    )
    assert.deepEqual(
      mountsOnTheWay(hiding.slice(0, 3), '/a/below').map(({ id }) => id),
      [1, 3],
    )
  })

  test('readMountTable() has the root of this machine', async () => {
    assert.ok((await readMountTable()).some(({ point }) => point === '/'))
  })
})
