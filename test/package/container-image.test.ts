import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { machineArchitecture } from '../../src/standalone/images/import-images.ts'
import { TestNode } from '../e2e/support/test-node.ts'
import { findArtefact } from './artefacts.ts'
import { runNodeInContainer } from './node-in-container.ts'

interface Descriptor {
  readonly digest: string
  readonly size: number
}

const NAME = 'deckhand.local/deckhand:0.1.0'
const archive = findArtefact(`deckhand-image-linux-${machineArchitecture}.tar`)

describe('the container image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-image-'))
  after(() => rmSync(folder, { recursive: true }))
  before(() => void execFileSync('tar', ['-xf', archive, '-C', folder]))
  const json = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), 'utf8'))
  const blob = ({ digest }: Descriptor) => `blobs/sha256/${digest.replace('sha256:', '')}`
  const hash = (content: Uint8Array) => `sha256:${createHash('sha256').update(content).digest('hex')}`

  test('is an OCI layout: every blob has its digest and size, and none is left over', () => {
    assert.deepEqual(json('oci-layout'), { imageLayoutVersion: '1.0.0' })
    const { manifests } = json('index.json') as { manifests: (Descriptor & { annotations: Record<string, string> })[] }
    const [index] = manifests
    assert.ok(index !== undefined && manifests.length === 1)
    assert.equal(index.annotations['org.opencontainers.image.ref.name'], NAME)
    const { config, layers } = json(blob(index)) as { config: Descriptor; layers: Descriptor[] }
    const all = [index, config, ...layers]
    for (const each of all) {
      const content = readFileSync(join(folder, blob(each)))
      assert.deepEqual({ digest: hash(content), size: content.length }, { digest: each.digest, size: each.size })
    }
    assert.deepEqual(
      readdirSync(join(folder, 'blobs/sha256')).toSorted(),
      all.map((each) => blob(each).slice(13)).toSorted(),
    )
    const { rootfs } = json(blob(config)) as { rootfs: { diff_ids: string[] } }
    assert.deepEqual(
      rootfs.diff_ids,
      layers.map((each) => hash(gunzipSync(readFileSync(join(folder, blob(each)))))),
    )
  })

  test('runs a whole node in a privileged container, with a pod on it', async (t) => {
    await using node = await TestNode.start()
    t.diagnostic(await runNodeInContainer(node, archive, NAME))
  })
})
