import assert from 'node:assert/strict'
import { linkSync, mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { measureTree } from './measure-tree.ts'

test('measureTree() counts blocks and inodes: holes take none, further links nothing, what links point to is not ours', () => {
  const root = makeTemporaryFolder()
  mkdirSync(join(root, 'a'))
  writeFileSync(join(root, 'a/data'), Buffer.alloc(100_000, 1))
  linkSync(join(root, 'a/data'), join(root, 'again'))
  writeFileSync(join(root, 'sparse'), '')
  truncateSync(join(root, 'sparse'), 10_000_000_000)
  symlinkSync('/usr', join(root, 'link'))
  const blocks = ['.', 'a', 'a/data', 'sparse'].map((path) => statSync(join(root, path)).blocks)
  const bytes = blocks.reduce((sum, count) => sum + count * 512, 0)
  assert.ok(bytes >= 100_000 && bytes < 1_000_000)
  let entries = 0
  assert.deepEqual(
    measureTree({ root }, () => (entries += 1)),
    { bytes, inodes: 5 },
  )
  assert.equal(entries, 6)
  assert.throws(() => measureTree({ root: join(root, 'absent') }, () => {}), { code: 'ENOENT' })
})
