import assert from 'node:assert/strict'
import { mkdir, stat, symlink, writeFile } from 'node:fs/promises'
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
