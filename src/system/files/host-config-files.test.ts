import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { hostConfigFiles } from './host-config-files.ts'

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'config-files-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'a.conf'), 'hello')
  await mkdir(join(folder, 'sub'))
  await symlink('sub', join(folder, 'link'))
  return folder
}

describe('hostConfigFiles', () => {
  test('reads a file up to its limit', async (t) => {
    const path = join(await makeFolder(t), 'a.conf')
    assert.equal(Buffer.from(await hostConfigFiles.readFile(path, 5)).toString(), 'hello')
    await assert.rejects(hostConfigFiles.readFile(path, 4), /expected at most 4 bytes$/)
    await assert.rejects(hostConfigFiles.readFile(`${path}x`, 4), /ENOENT/)
    await assert.rejects(hostConfigFiles.readFile(join(path, '..'), 4), /EISDIR/)
  })

  test('distinguishes files, folders and links', async (t) => {
    const folder = await makeFolder(t)
    const kinds = ['', '/a.conf', '/link', '/link/'].map((name) => hostConfigFiles.entryKind(folder + name))
    assert.deepEqual(await Promise.all(kinds), ['directory', 'file', 'symlink', 'directory'])
    const entries = await hostConfigFiles.listDirectory(folder)
    assert.deepEqual(
      entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      [
        { name: 'a.conf', kind: 'file' },
        { name: 'link', kind: 'symlink' },
        { name: 'sub', kind: 'directory' },
      ],
    )
  })
})
