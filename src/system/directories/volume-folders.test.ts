import assert from 'node:assert/strict'
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { createVolumeFolders } from './volume-folders.ts'

function setUp() {
  const rootDirectory = makeTemporaryFolder()
  const make = async (...paths: string[]) => {
    for (const path of paths) await mkdir(join(rootDirectory, 'pods', path), { recursive: true })
  }
  return { rootDirectory, make, folders: createVolumeFolders({ rootDirectory }) }
}

test('lists the volumes of all pods, as files and as devices', async () => {
  const { rootDirectory, make, folders } = setUp()
  assert.deepEqual(await folders.listVolumes(), [])
  await make(
    'u-1/volumes/kubernetes.io~empty-dir/a',
    'u-1/volumeDevices/kubernetes.io~local-volume/pv',
    'u-2/etc',
    'u-3/volumes',
  )
  await writeFile(join(rootDirectory, 'pods/u-1/volumes/file'), '')
  assert.deepEqual(await folders.listVolumes(), [
    {
      uid: 'u-1',
      use: 'files',
      pluginDirectory: 'kubernetes.io~empty-dir',
      specName: 'a',
      path: join(rootDirectory, 'pods/u-1/volumes/kubernetes.io~empty-dir/a'),
    },
    {
      uid: 'u-1',
      use: 'device',
      pluginDirectory: 'kubernetes.io~local-volume',
      specName: 'pv',
      path: join(rootDirectory, 'pods/u-1/volumeDevices/kubernetes.io~local-volume/pv'),
    },
  ])
})

test('lists the pods with anything around volumes, also when no volume is left', async () => {
  const { make, folders } = setUp()
  assert.deepEqual(await folders.listPods(), [])
  await make('u-1/volumes/kubernetes.io~empty-dir', 'u-2/containers/main', 'u-2/volumes', 'u-3/volume-subpaths/a')
  assert.deepEqual((await folders.listPods()).toSorted(), ['u-1', 'u-3'])
})

test('follows no link, wherever it stands', async () => {
  const { rootDirectory, make, folders } = setUp()
  await make('../elsewhere/volumes/kubernetes.io~empty-dir/a', 'u-2', 'u-3/volumes')
  const links = ['u-1', 'u-2/volumes', 'u-3/volumes/kubernetes.io~empty-dir']
  for (const [index, link] of links.entries()) {
    const behind = ['', 'volumes', 'volumes/kubernetes.io~empty-dir'][index] ?? ''
    await symlink(join(rootDirectory, 'elsewhere', behind), join(rootDirectory, 'pods', link))
  }
  assert.deepEqual(await folders.listVolumes(), [])
  assert.deepEqual(await folders.listPods(), ['u-3'])
  const left = await Promise.all(['u-1', 'u-2', 'u-3'].map((uid) => folders.removeEmptyFolders(uid, new Set())))
  const stay = ['u-1/volumes', 'u-2/volumes', 'u-3/volumes/kubernetes.io~empty-dir']
  assert.deepEqual(
    left.flat(),
    stay.map((path) => join(rootDirectory, 'pods', path)),
  )
  assert.deepEqual(await readdir(join(rootDirectory, 'elsewhere/volumes/kubernetes.io~empty-dir')), ['a'])
})

test('removes empty directories and never what holds something', async () => {
  const { rootDirectory, make, folders } = setUp()
  const kept = join(rootDirectory, 'pods/u-1/volumes/kubernetes.io~empty-dir/kept')
  await make(
    'u-1/volumes/kubernetes.io~empty-dir/kept',
    'u-1/volumes/kubernetes.io~empty-dir/gone',
    'u-1/plugins/kubernetes.io~empty-dir/gone',
    'u-1/volume-subpaths/a/main',
    'u-1/containers',
  )
  await writeFile(join(kept, 'data'), 'precious')
  assert.deepEqual(await folders.removeEmptyFolders('u-1', new Set()), [kept])
  assert.deepEqual(await readdir(join(rootDirectory, 'pods/u-1'), { recursive: true }), [
    'containers',
    'volumes',
    'volumes/kubernetes.io~empty-dir',
    'volumes/kubernetes.io~empty-dir/kept',
    'volumes/kubernetes.io~empty-dir/kept/data',
  ])
  await rm(join(kept, 'data'))
  assert.deepEqual(await folders.removeEmptyFolders('u-1', new Set()), [])
  assert.deepEqual(await folders.removeEmptyFolders('unknown', new Set()), [])
  assert.deepEqual(await readdir(join(rootDirectory, 'pods/u-1')), ['containers'])
})

test('makes folders that others cannot list, and knows whether one holds anything', async () => {
  const { rootDirectory, folders } = setUp()
  const path = join(rootDirectory, 'pods/u-1/volume-subpaths/a')
  assert.equal(await folders.holdsAnything(dirname(path)), false)
  await folders.makeFolder(path)
  assert.equal(await folders.holdsAnything(dirname(path)), true)
})
