import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setUmask } from '../../../test/fixtures/set-umask.ts'
import { createVolumeFiles } from './volume-files.ts'

async function makeRoot(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-volumes-'))
  t.after(() => rm(root, { recursive: true }))
  return { root, files: createVolumeFiles({ rootDirectory: root }) }
}

const mode = async (path: string) => (await stat(path)).mode & 0o7777
const marker = { uid: 'u1', plugin: 'kubernetes.io/empty-dir', name: 'wrapped_cfg' }

describe('createVolumeFiles()', () => {
  test('makes a volume directory with its mode and private parents, also under a strict umask', async (t) => {
    const { root, files } = await makeRoot(t)
    const path = join(root, 'pods/u1/volumes/kubernetes.io~empty-dir/data')
    setUmask(t, 0o077)
    assert.equal(await files.makeDirectory(path, 0o777), true)
    assert.equal(await mode(path), 0o777)
    process.umask(0o022)
    assert.equal(await files.makeDirectory(join(root, 'pods/u2/volumes/kubernetes.io~nfs/data'), 0o750), true)
    assert.equal(await mode(join(root, 'pods/u2/volumes/kubernetes.io~nfs')), 0o750)
  })

  test('keeps what is in a directory that is there', async (t) => {
    const { root, files } = await makeRoot(t)
    const path = join(root, 'pods/u1/volumes/kubernetes.io~empty-dir/data')
    await files.makeDirectory(path, 0o777)
    await writeFile(join(path, 'x'), '')
    assert.equal(await files.makeDirectory(path, 0o777), false)
    assert.deepEqual(await readdir(path), ['x'])
    await assert.rejects(files.removeDirectory(path), { code: 'ENOTEMPTY' })
  })

  test('makes many side by side', async (t) => {
    const { root, files } = await makeRoot(t)
    const paths = Array.from({ length: 20 }, (_, n) => join(root, `pods/u1/volumes/kind-${n % 3}/data-${n}`))
    const made = await Promise.all(paths.map((path) => files.makeDirectory(path, 0o777)))
    assert.deepEqual(new Set(made), new Set([true]))
  })

  test('takes no link for a directory', async (t) => {
    const { root, files } = await makeRoot(t)
    await mkdir(join(root, 'elsewhere'))
    await symlink(join(root, 'elsewhere'), join(root, 'link'))
    await assert.rejects(files.makeDirectory(join(root, 'link'), 0o777), { code: 'EEXIST' })
    assert.equal(await files.isDirectory(join(root, 'link')), false)
  })

  test('gives a root to a group', async (t) => {
    const { root, files } = await makeRoot(t)
    const path = join(root, 'pods/u1/volumes/p/data')
    await files.makeDirectory(path, 0o705)
    await files.giveToGroup(path, process.getgid?.() ?? 0)
    assert.equal(await mode(path), 0o2775)
  })

  test('sets and removes markers, as often as asked', async (t) => {
    const { root, files } = await makeRoot(t)
    assert.equal(await files.hasMarker(marker), false)
    await files.setMarker(marker)
    await files.setMarker(marker)
    assert.equal(await files.hasMarker(marker), true)
    assert.deepEqual(await readdir(join(root, 'pods/u1/plugins/kubernetes.io~empty-dir/wrapped_cfg')), ['ready'])
    await files.removeMarker(marker)
    await files.removeMarker(marker)
    assert.equal(await files.hasMarker(marker), false)
    assert.deepEqual(await readdir(join(root, 'pods/u1/plugins/kubernetes.io~empty-dir')), [])
  })
})
