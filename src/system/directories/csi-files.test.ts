import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setUmask } from '../../../test/fixtures/set-umask.ts'
import { createCsiFiles } from './csi-files.ts'

async function setUp(t: TestContext) {
  const rootDirectory = await mkdtemp(join(tmpdir(), 'csi-files-'))
  t.after(() => rm(rootDirectory, { recursive: true }))
  return { files: createCsiFiles({ rootDirectory }), csi: join(rootDirectory, 'plugins/kubernetes.io/csi') }
}

describe('csi files', () => {
  test('notes are written in one step, as everybody may read them, and not again when they are the same', async (t) => {
    setUmask(t, 0o022)
    const { files, csi } = await setUp(t)
    const directory = join(csi, 'd', 'hash')
    await files.makeDirectory(join(directory, 'globalmount'))
    await files.makeDirectory(join(directory, 'globalmount'))
    assert.equal((await stat(directory)).mode & 0o777, 0o750)
    assert.equal(await files.readData(directory), undefined)
    await files.writeData(directory, 'a\n')
    const { mode, ino } = await stat(join(directory, 'vol_data.json'))
    assert.equal(mode & 0o777, 0o644)
    await files.writeData(directory, 'a\n')
    assert.equal((await stat(join(directory, 'vol_data.json'))).ino, ino)
    assert.equal(await files.readData(directory), 'a\n')
    // An agent that died while it wrote has left half of one.
    await writeFile(join(directory, 'vol_data.json.new'), 'h')
    await files.removeData(directory)
    await files.removeData(directory)
    assert.deepEqual(await readdir(directory), ['globalmount'])
  })

  test('a note that is set aside is kept until the volume is gone', async (t) => {
    const { files, csi } = await setUp(t)
    const directory = join(csi, 'd', 'hash')
    await files.writeData(directory, '{')
    await files.setAsideData(directory)
    assert.deepEqual([await files.readData(directory), await files.listStagedFiles()], [undefined, []])
    assert.equal(await readFile(join(directory, 'vol_data.json.broken'), 'utf8'), '{')
    await files.removeData(directory)
    assert.deepEqual(await readdir(directory), [])
  })

  test('finds the notes of all drivers and devices, and takes nothing else for one', async (t) => {
    const { files, csi } = await setUp(t)
    assert.deepEqual([await files.listStagedFiles(), await files.listStagedDevices()], [[], []])
    for (const path of ['d/one', 'd/two', 'e/three', 'volumeDevices/pv/data', 'volumeDevices/staging/pv', 'd/link'])
      await mkdir(join(csi, path), { recursive: true })
    for (const path of ['d/one', 'e/three', 'volumeDevices/pv/data'])
      await writeFile(join(csi, path, 'vol_data.json'), path)
    await symlink('/dev/zero', join(csi, 'd/link/vol_data.json'))
    const found = (await files.listStagedFiles()).toSorted((a, b) => a.text.localeCompare(b.text))
    assert.deepEqual(found, [
      { directory: join(csi, 'd/one'), text: 'd/one' },
      { directory: join(csi, 'e/three'), text: 'e/three' },
    ])
    assert.deepEqual(await files.listStagedDevices(), [
      { directory: join(csi, 'volumeDevices/pv/data'), text: 'volumeDevices/pv/data' },
    ])
  })

  test('removes directories that are empty, never what is in one', async (t) => {
    const { files, csi } = await setUp(t)
    const full = join(csi, 'full')
    await files.makeDirectory(join(csi, 'empty'))
    await files.makeDirectory(full)
    await writeFile(join(full, 'file'), 'precious')
    await files.removeDirectory(join(csi, 'empty'))
    await files.removeDirectory(join(csi, 'empty'))
    await assert.rejects(files.removeDirectory(full), /ENOTEMPTY/)
    await files.removeIfEmpty(full)
    assert.equal(await readFile(join(full, 'file'), 'utf8'), 'precious')
  })
})
