import assert from 'node:assert/strict'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { prepareRoot } from './prepare-root.ts'

test('prepareRoot() makes the place of pods and returns a path without links', async () => {
  const folder = makeTemporaryFolder()
  await mkdir(join(folder, 'disk'))
  await symlink(join(folder, 'disk'), join(folder, 'kubelet'))
  assert.equal(await prepareRoot(join(folder, 'kubelet')), join(folder, 'disk'))
  assert.equal(await prepareRoot(join(folder, 'kubelet')), join(folder, 'disk'))
  assert.deepEqual(await readdir(join(folder, 'disk')), ['pods'])
})
