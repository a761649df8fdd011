import assert from 'node:assert/strict'
import { lstat, mkdir, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { deviceFiles } from './device-files.ts'

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'device-files-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

describe('deviceFiles', () => {
  test('makes and removes an empty file and a link, as often as asked', async (t) => {
    const folder = await makeFolder(t)
    const [file, link] = [join(folder, 'maps', 'u-1'), join(folder, 'pods', 'pv')]
    for (const target of ['/dev/a', '/dev/a', '/dev/b']) {
      await deviceFiles.makeFile(file)
      await deviceFiles.makeLink(link, target)
      assert.deepEqual([(await lstat(file)).size, await readlink(link)], [0, target])
    }
    await deviceFiles.removeIfEmpty(join(folder, 'maps'))
    for (const _ of [1, 2]) {
      await deviceFiles.removeFile(file)
      await deviceFiles.removeLink(link)
      await deviceFiles.removeIfEmpty(join(folder, 'maps'))
    }
    await assert.rejects(lstat(join(folder, 'maps')), { code: 'ENOENT' })
  })

  test('removes nothing that is not its own', async (t) => {
    const folder = await makeFolder(t)
    const file = join(folder, 'data')
    await writeFile(file, 'precious')
    await assert.rejects(deviceFiles.removeFile(file), /expected an empty file/)
    await assert.rejects(deviceFiles.removeLink(file), /expected a symbolic link/)
    await mkdir(join(folder, 'd'))
    await assert.rejects(deviceFiles.removeFile(join(folder, 'd')), /expected an empty file/)
    await deviceFiles.removeIfEmpty(folder)
    assert.equal(await readFile(file, 'utf8'), 'precious')
  })
})
