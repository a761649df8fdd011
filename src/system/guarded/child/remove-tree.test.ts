import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { removeTree } from './remove-tree.ts'

describe('removeTree()', () => {
  test('removes a tree, and nothing that links in it point to', () => {
    const folder = makeTemporaryFolder()
    const root = join(folder, 'volume')
    mkdirSync(join(root, 'a/b'), { recursive: true })
    mkdirSync(join(folder, 'precious'))
    writeFileSync(join(folder, 'precious/file'), '')
    writeFileSync(Buffer.concat([Buffer.from(`${root}/a/b/`), Buffer.from([0xff])]), '')
    symlinkSync(join(folder, 'precious'), join(root, 'a/link'))
    removeTree({ root }, () => {})
    assert.deepEqual([readdirSync(folder), existsSync(join(folder, 'precious/file'))], [['precious'], true])
  })

  test('has nothing to do for what is not there, and does not take a link for the tree', () => {
    const folder = makeTemporaryFolder()
    removeTree({ root: join(folder, 'absent') }, () => {})
    removeTree({ root: join(folder, 'absent/deeper') }, () => {})
    mkdirSync(join(folder, 'precious'))
    symlinkSync('precious', join(folder, 'link'))
    assert.throws(() => removeTree({ root: join(folder, 'link') }, () => {}), { code: 'ENOTDIR' })
    assert.deepEqual(readdirSync(folder), ['link', 'precious'])
  })

  test('removes what is added meanwhile, and gives up on one that never stops', () => {
    const root = join(makeTemporaryFolder(), 'volume')
    for (const { writes, expected } of [
      { writes: 10, expected: false },
      { writes: Number.POSITIVE_INFINITY, expected: true },
    ]) {
      mkdirSync(join(root, 'a'), { recursive: true })
      let written = 0
      const remove = () =>
        removeTree({ root }, () => {
          if (written >= writes) return
          written += 1
          writeFileSync(join(root, `new-${written}`), '')
        })
      if (expected) assert.throws(remove, { code: 'ENOTEMPTY' })
      else remove()
      assert.equal(existsSync(root), expected)
    }
  })
})
