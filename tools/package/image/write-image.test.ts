import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { createTar } from '../../../src/standalone/images/tar.ts'
import { writeImage } from './write-image.ts'

describe('writeImage()', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-image-'))
  after(() => rmSync(folder, { recursive: true }))
  const layers = ['lower', 'upper'].map((name) => {
    const file = join(folder, `${name}.tar`)
    writeFileSync(file, createTar([{ kind: 'file', path: name, content: Buffer.from(name), mode: 0o644 }]))
    return file
  })
  const write = async (name: string) => {
    const [work, output] = [join(folder, name), join(folder, `${name}-image.tar`)]
    mkdirSync(work)
    const config = { Cmd: ['up'] }
    await writeImage({ name: 'a.local/b:1', architecture: 'amd64', layers, config, epoch: 1000, work, output })
    return output
  }

  test('makes the same bytes of the same layers, wherever it works', async () => {
    assert.ok(readFileSync(await write('one')).equals(readFileSync(await write('two'))))
  })

  test('refers to layers by what they are compressed and plain', async () => {
    const layout = join(folder, 'read')
    mkdirSync(layout)
    execFileSync('tar', ['-xf', await write('three'), '-C', layout])
    const read = (path: string): unknown => JSON.parse(readFileSync(join(layout, path), 'utf8'))
    const [legacy] = read('manifest.json') as { Config: string; RepoTags: string[]; Layers: string[] }[]
    assert.deepEqual(legacy?.RepoTags, ['a.local/b:1'])
    const { config, rootfs } = read(legacy?.Config ?? '') as { config: unknown; rootfs: { diff_ids: string[] } }
    assert.deepEqual(config, { Cmd: ['up'] })
    const hash = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')
    assert.deepEqual(
      rootfs.diff_ids,
      layers.map((file) => `sha256:${hash(readFileSync(file))}`),
    )
    for (const path of legacy?.Layers ?? [])
      assert.equal(path, `blobs/sha256/${hash(readFileSync(join(layout, path)))}`)
  })
})
