import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, test } from 'node:test'
import { BUSYBOX_IMAGE, createNodeImages } from './node-images.ts'

function findWget(hasWgetTimeout: boolean) {
  const programs = { catatonit: Buffer.alloc(0), busybox: Buffer.alloc(0), applets: ['sh', 'wget'], hasWgetTimeout }
  const busybox = createNodeImages(programs).find(({ name }) => name === BUSYBOX_IMAGE)
  return busybox?.files.find(({ path }) => path === 'bin/wget')
}

describe('the wget of the busybox image', () => {
  test('is that of busybox where it takes a limit in time', () => {
    assert.deepEqual(findWget(true), { kind: 'symlink', path: 'bin/wget', target: 'busybox' })
  })

  const rows: [given: readonly string[], run: string][] = [
    [['-q', '-O', '-', 'http://a b/'], 'wget|-q|-O|-|http://a b/'],
    [['-T', '2', '-q', 'http://a/'], 'timeout|2|busybox|wget|-q|http://a/'],
    [['-q', '-T5', 'http://a/'], 'timeout|5|busybox|wget|-q|http://a/'],
    [['--timeout=3', 'http://a/'], 'timeout|3|busybox|wget|http://a/'],
    [['--timeout', '3', 'http://a/'], 'timeout|3|busybox|wget|http://a/'],
    [['-qT', '3', 'http://a/', '-O-'], 'timeout|3|busybox|wget|-q|http://a/|-O-'],
    [[], 'wget'],
  ]
  for (const [given, run] of rows) {
    test(`else has one that takes ${given.join(' ')}`, () => {
      const script = findWget(false)
      assert.ok(script?.kind === 'file')
      assert.equal(script.mode, 0o755)
      const folder = mkdtempSync(`${tmpdir()}/wget-`)
      try {
        writeFileSync(`${folder}/wget`, script.content)
        writeFileSync(`${folder}/busybox`, '#!/bin/sh\nIFS="|"; printf %s "$*"\n')
        for (const name of ['wget', 'busybox']) chmodSync(`${folder}/${name}`, 0o755)
        const env = { PATH: `${folder}:/usr/bin:/bin` }
        assert.equal(spawnSync(`${folder}/wget`, given, { env, encoding: 'utf8' }).stdout, run)
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  }
})
