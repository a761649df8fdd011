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

  test('counts the logs that Docker keeps for these containers, the rotated ones too, and no other link', async () => {
    const folder = makeTemporaryFolder()
    const root = join(folder, 'docker')
    const [own, foreign] = ['a'.repeat(64), 'b'.repeat(64)]
    await mkdir(join(folder, 'pod/main'), { recursive: true })
    for (const id of [own, foreign]) {
      await mkdir(join(root, 'containers', id), { recursive: true })
      for (const name of [`${id}-json.log`, `${id}-json.log.1`, `${id}-json.log.2.gz`, 'config.v2.json'])
        await writeFile(join(root, 'containers', id, name), Buffer.alloc(40_000, 1))
    }
    const logOf = (id: string) => join(root, 'containers', id, `${id}-json.log`)
    await symlink(logOf(own), join(folder, 'pod/main/1.log'))
    const link = (await statsFiles.folder(join(folder, 'pod')))?.folders.get('main')
    await symlink(logOf(foreign), join(folder, 'pod/main/2.log'))
    await symlink(join(folder, 'elsewhere', own, `${own}-json.log`), join(folder, 'pod/main/3.log'))
    await writeFile(join(folder, 'pod/main/4.log'), 'plain')
    const plain = await statsFiles.file(join(folder, 'pod/main/4.log'))
    const links = 3
    const written = (await stat(logOf(own))).blocks * 512 * 3
    const docker = { root, containerIds: new Set([own]) }
    const measured = async (known: typeof docker | { root: undefined; containerIds: Set<string> }) =>
      (await statsFiles.logFolder(join(folder, 'pod'), known))?.folders.get('main')
    const linked = (link?.bytes ?? 0) * links + plain.bytes
    assert.deepEqual(await measured(docker), { bytes: linked + written, inodes: links + 1 + 3 })
    assert.deepEqual(await measured({ ...docker, root: undefined }), { bytes: linked, inodes: links + 1 })
    assert.deepEqual(await measured({ root, containerIds: new Set() }), { bytes: linked, inodes: links + 1 })
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
