import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { findSandboxProfile, sandboxProfilePath } from './sandbox-profile.ts'

test('findSandboxProfile() finds the profile below the folder of the agent, where there is one', async () => {
  const root = makeTemporaryFolder()
  assert.equal(await findSandboxProfile(root), undefined)
  const path = sandboxProfilePath(root)
  mkdirSync(dirname(path))
  writeFileSync(path, '{}')
  assert.equal(await findSandboxProfile(root), path)
})
