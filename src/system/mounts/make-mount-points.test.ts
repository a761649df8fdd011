import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { makeMountPoints } from './make-mount-points.ts'

async function makeRoot(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-points-'))
  t.after(() => rm(root, { recursive: true }))
  return root
}

describe('makeMountPoints()', () => {
  test('makes what is missing, open to all', async (t) => {
    const root = await makeRoot(t)
    await makeMountPoints(root, ['a/b', 'a//c/'])
    await makeMountPoints(root, ['a/b/d'])
    assert.deepEqual((await readdir(root, { recursive: true })).toSorted(), ['a', 'a/b', 'a/b/d', 'a/c'])
    assert.equal((await stat(join(root, 'a/b'))).mode & 0o7777, 0o755)
  })

  test('follows no link and goes nowhere else', async (t) => {
    const root = await makeRoot(t)
    const outside = await makeRoot(t)
    await symlink(outside, join(root, 'link'))
    await assert.rejects(makeMountPoints(root, ['link/x']), { code: 'ENOTDIR' })
    await assert.rejects(makeMountPoints(root, ['../x']), /its path has "\.\."/)
    assert.deepEqual(await readdir(outside), [])
  })
})
