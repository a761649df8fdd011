import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { holdTrusted } from './held-path.ts'
import type { HeldPath } from './held-path.ts'
import { removeTree } from './remove-tree.ts'
import { walkTree } from './walk-tree.ts'

/** Walks and writes down what it meets, by the real paths below the folder. */
function walk(folder: string, onLeave: (path: string) => void = () => {}): readonly string[] {
  const met: string[] = []
  const shown = (directory: HeldPath) => directory.realPath().slice(folder.length)
  using root = holdTrusted(folder)
  walkTree(root, {
    file: (directory, name) => met.push(`${shown(directory)}/${name.toString('latin1')}`),
    leave: (directory) => {
      const path = shown(directory)
      met.push(`${path}/`)
      onLeave(path)
    },
  })
  return met
}

const openDescriptors = () => readdirSync('/proc/self/fd').length

describe('walkTree()', () => {
  test('meets what is in a directory before the directory, and follows no link', () => {
    const folder = makeTemporaryFolder()
    mkdirSync(join(folder, 'a/b'), { recursive: true })
    writeFileSync(join(folder, 'a/b/f'), '')
    symlinkSync('/etc', join(folder, 'a/link'))
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])]), '')
    assert.deepEqual(walk(folder), ['/\xff\xfe', '/a/link', '/a/b/f', '/a/b/', '/a/', '/'])
  })

  test('goes as deep as it gets with one descriptor at a time', () => {
    const folder = makeTemporaryFolder()
    const levels = 3000
    // Deeper than any path can be: each part is moved below the one before.
    const part = join(folder, 'part')
    for (let made = 0; made < levels; made += 100) {
      const next = join(folder, 'next')
      mkdirSync(join(next, 'd/'.repeat(99)), { recursive: true })
      if (made > 0) renameSync(part, join(next, 'd/'.repeat(98), 'd', 'd'))
      renameSync(next, part)
    }
    const before = openDescriptors()
    let most = 0
    let met = 0
    using root = holdTrusted(folder)
    walkTree(root, {
      file: () => {},
      leave: () => {
        met += 1
        if (met % 100 === 0) most = Math.max(most, openDescriptors())
      },
    })
    assert.deepEqual([met, most - before <= 4], [levels + 1, true])
    removeTree({ root: part }, () => {})
    assert.deepEqual(readdirSync(folder), [])
  })

  test('finds its way back when a directory is moved away or removed under its feet', () => {
    for (const disturb of [
      (folder: string) => renameSync(join(folder, 'a/b'), join(folder, 'elsewhere')),
      (folder: string) => rmSync(join(folder, 'a/b'), { recursive: true }),
    ]) {
      const folder = makeTemporaryFolder()
      mkdirSync(join(folder, 'a/b/c'), { recursive: true })
      mkdirSync(join(folder, 'a/sibling'), { recursive: true })
      mkdirSync(join(folder, 'z'), { recursive: true })
      const before = openDescriptors()
      const met = walk(folder, (path) => {
        if (path === '/a/b/c') disturb(folder)
      })
      assert.deepEqual(met.includes('/a/sibling/') && met.includes('/z/') && met.at(-1) === '/', true, met.join(' '))
      assert.equal(openDescriptors(), before)
    }
  })
})
