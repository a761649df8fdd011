import assert from 'node:assert/strict'
import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { setUmask } from '../../../test/fixtures/set-umask.ts'
import { prepareRoot } from './prepare-root.ts'

test('prepareRoot() makes the places of pods and their logs for root and its group, and returns a path without links', async (t) => {
  setUmask(t, 0o022)
  const folder = makeTemporaryFolder()
  await mkdir(join(folder, 'disk'))
  await symlink(join(folder, 'disk'), join(folder, 'kubelet'))
  const logs = join(folder, 'log/pods')
  assert.equal(await prepareRoot(join(folder, 'kubelet'), logs), join(folder, 'disk'))
  assert.equal(await prepareRoot(join(folder, 'kubelet'), logs), join(folder, 'disk'))
  const modes = await Promise.all([join(folder, 'disk/pods'), logs, join(folder, 'log')].map((path) => stat(path)))
  assert.deepEqual(
    modes.map(({ mode }) => mode & 0o777),
    [0o750, 0o750, 0o755],
  )
  await writeFile(join(folder, 'file'), '')
  assert.equal(await prepareRoot(join(folder, 'kubelet'), join(folder, 'file/pods')), join(folder, 'disk'))
  assert.deepEqual(await readdir(join(folder, 'disk')), ['pods'])
})
