import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { ctrCommand, machineArchitecture } from '../../src/standalone/images/import-images.ts'
import { TestNode } from '../e2e/support/test-node.ts'
import { testPod } from '../e2e/support/test-pod.ts'
import { findArtefact } from './artefacts.ts'

interface Descriptor {
  readonly digest: string
  readonly size: number
}

const NAME = 'deckhand.local/deckhand:0.1.0'
const archive = findArtefact(`deckhand-image-linux-${machineArchitecture}.tar`)
const NODE_MS = 120_000

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
    const paths = { socket: node.lab.containerd.socket }
    const ctr = (args: readonly string[]) =>
      node.lab.runInside(ctrCommand({ paths, enter: [] }, ...args), { deadlineMs: NODE_MS })
    const imported = await ctr(['images', 'import', archive])
    assert.equal(imported.exitCode, 0, imported.stderr)
    const container = {
      name: 'main',
      image: NAME,
      imagePullPolicy: 'Never',
      // Where containers have no cgroup namespace, they have the names of the machine.
      args: ['up', '--page-port', '0', '--cgroup-root', `${node.lab.cgroupRoot}/inside`],
      securityContext: { privileged: true },
    }
    await node.lab.manifests.write(
      'machine',
      testPod('machine', { containers: [container], terminationGracePeriodSeconds: 30 }),
    )
    const [running] = await node.waitFor('the container to run', async () => {
      const found = await node.running('machine')
      return found.length > 0 && found
    })
    let count = 0
    const inside = async (...argv: readonly string[]) => {
      count += 1
      const args = ['tasks', 'exec', '--exec-id', `test-${count}`, running?.id ?? '', ...argv]
      return await ctr(args)
    }
    t.diagnostic((await inside('deckhand', 'version')).stdout.trim())
    await node.waitFor(
      'the node inside to be healthy',
      async () => /^agent +healthy/m.test((await inside('deckhand', 'status')).stdout),
      NODE_MS,
    )
    const manifest = JSON.stringify(testPod('nested'))
    const written = await inside(
      'sh',
      '-c',
      `echo '${manifest.replaceAll("'", `'\\''`)}' > /var/lib/deckhand/manifests/nested.json`,
    )
    assert.equal(written.exitCode, 0, written.stderr)
    await node.waitFor(
      'the pod inside to run',
      async () => /^default\/nested-\S+ +yes +Running/m.test((await inside('deckhand', 'status')).stdout),
      NODE_MS,
    )
    const log = await inside('sh', '-c', 'cat $(find /var/lib/deckhand -path "*nested*/main/0.log")')
    assert.match(log.stdout, / stdout F started /, log.stderr)
    // As "docker stop" ends it: the node inside leaves, and its pods end with the container.
    await node.lab.manifests.remove('machine')
    await node.waitFor('the container to be gone', async () => (await node.containers('machine')).length === 0, NODE_MS)
  })
})
