import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { createOciArchive } from './oci-archive.ts'
import type { ImageSource } from './oci-archive.ts'

const image: ImageSource = {
  name: 'example.test/tool:1',
  files: [{ kind: 'file', path: 'tool', content: Buffer.from('#!'), mode: 0o755 }],
  entrypoint: ['/tool'],
  environment: ['A=b'],
}

function extract(archive: Buffer, path: string): Buffer {
  return spawnSync('tar', ['--extract', '--to-stdout', '--file', '-', path], { input: archive }).stdout
}

interface Described {
  readonly digest: string
  readonly size: number
}

function readBlob(archive: Buffer, { digest, size }: Described): Buffer {
  const content = extract(archive, `blobs/sha256/${digest.slice('sha256:'.length)}`)
  assert.equal(`sha256:${createHash('sha256').update(content).digest('hex')}`, digest)
  assert.equal(content.length, size)
  return content
}

describe('createOciArchive()', () => {
  test('leads from the index to the layer by digests that are right', () => {
    const archive = createOciArchive([image], 'amd64')
    const index = JSON.parse(extract(archive, 'index.json').toString())
    const [entry] = index.manifests
    assert.equal(entry.annotations['io.containerd.image.name'], 'example.test/tool:1')
    const manifest = JSON.parse(readBlob(archive, entry).toString())
    const config = JSON.parse(readBlob(archive, manifest.config).toString())
    assert.deepEqual(config.config, { Entrypoint: ['/tool'], Env: ['A=b'] })
    assert.deepEqual(config.rootfs.diff_ids, [manifest.layers[0].digest])
    assert.equal(extract(readBlob(archive, manifest.layers[0]), 'tool').toString(), '#!')
    // For Docker before version 25.
    const path = ({ digest }: Described) => `blobs/sha256/${digest.slice('sha256:'.length)}`
    assert.deepEqual(JSON.parse(extract(archive, 'manifest.json').toString()), [
      { Config: path(manifest.config), RepoTags: ['example.test/tool:1'], Layers: manifest.layers.map(path) },
    ])
  })

  test('gives the same bytes for the same input, and shares equal layers', () => {
    assert.deepEqual(createOciArchive([image], 'amd64'), createOciArchive([image], 'amd64'))
    const twice = createOciArchive([image, { ...image, name: 'example.test/other:1' }], 'amd64')
    assert.equal(JSON.parse(extract(twice, 'index.json').toString()).manifests.length, 2)
    assert.equal(spawnSync('tar', ['--list', '--file', '-'], { input: twice }).stdout.toString().split('\n').length, 7)
  })
})
