import assert from 'node:assert/strict'
import { mkdirSync, statSync, symlinkSync } from 'node:fs'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { listProvisionedFolders, makeProvisionedFolder } from './provisioned-folders.ts'

describe('folders of volumes', () => {
  test('are open to containers of any user, below one that is for root alone, and made once', async () => {
    const root = `${makeTemporaryFolder()}/volumes`
    assert.deepEqual(await listProvisionedFolders(root), [])
    await makeProvisionedFolder(root, 'pvc-1')
    mkdirSync(`${root}/pvc-1/data`)
    await makeProvisionedFolder(root, 'pvc-1')
    assert.deepEqual(await listProvisionedFolders(root), ['pvc-1'])
    assert.equal(statSync(root).mode & 0o7777, 0o700)
    assert.equal(statSync(`${root}/pvc-1`).mode & 0o7777, 0o777)
    assert.ok(statSync(`${root}/pvc-1/data`).isDirectory())
  })

  test('are refused where a link has the name, and for what is no name', async () => {
    const root = makeTemporaryFolder()
    symlinkSync(makeTemporaryFolder(), `${root}/pvc-2`)
    await assert.rejects(makeProvisionedFolder(root, 'pvc-2'), /pvc-2" for a volume: it is no folder/)
    for (const name of ['..', '../x', 'a/b', '.']) await assert.rejects(makeProvisionedFolder(root, name), /no name/)
  })
})
