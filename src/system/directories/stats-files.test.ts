import assert from 'node:assert/strict'
import { mkdir, open, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { readMountTable } from '../mounts/mount-table.ts'
import { statsFiles } from './stats-files.ts'

describe('statsFiles', () => {
  test('counts the files of a folder and of those in it, and follows no link', async () => {
    const folder = makeTemporaryFolder()
    await mkdir(join(folder, 'main', 'deep'), { recursive: true })
    await writeFile(join(folder, 'main', '0.log'), Buffer.alloc(10_000, 1))
    await writeFile(join(folder, 'main', '1.log'), 'x')
    await symlink('/dev/zero', join(folder, 'link'))
    const bytes = async (name: string) => (await stat(join(folder, 'main', name))).blocks * 512
    assert.deepEqual(await statsFiles.folder(folder), {
      own: { bytes: 0, inodes: 1 },
      folders: new Map([
        ['main', { bytes: (await bytes('0.log')) + (await bytes('1.log')) + (await bytes('deep')), inodes: 3 }],
      ]),
    })
  })

  test('empties a file that is larger than it may be, after it was counted', async () => {
    const folder = makeTemporaryFolder()
    await mkdir(join(folder, 'main'))
    const [large, small, elsewhere] = [join(folder, 'main/1'), join(folder, 'main/2'), join(folder, 'precious')]
    await writeFile(large, Buffer.alloc(2_000_000, 1))
    await writeFile(small, 'said')
    await writeFile(elsewhere, Buffer.alloc(900_000, 1))
    await symlink(elsewhere, join(folder, 'main/3'))
    await using writer = await open(large, 'r+')
    const usage = await statsFiles.cutFolder(folder, 1_000_000)
    assert.ok((usage?.folders.get('main')?.bytes ?? 0) >= 2_000_000)
    assert.deepEqual(
      await Promise.all([large, small, elsewhere].map(async (path) => (await stat(path)).size)),
      [0, 4, 900_000],
    )
    await writer.write('x', 5_000_000)
    assert.ok((await statsFiles.file(large)).bytes < 100_000)
  })

  test('finds nothing where nothing is', async () => {
    const folder = makeTemporaryFolder()
    assert.deepEqual(await statsFiles.folder(join(folder, 'absent')), undefined)
    assert.deepEqual(await statsFiles.file(join(folder, 'absent')), { bytes: 0, inodes: 0 })
    assert.equal(statsFiles.kernelFile('/proc/absent'), undefined)
  })

  test('knows the file system of a path and its device', async () => {
    const { device, ...usage } = await statsFiles.fileSystem('/proc')
    const mount = (await readMountTable()).find(({ point }) => point === '/proc')
    assert.deepEqual([device, usage.capacityBytes], [mount?.device, 0])
  })
})
