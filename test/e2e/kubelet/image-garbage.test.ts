import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { readFileSystemSpace } from '../../../src/system/files/file-system-space.ts'
import { ImageCollector } from '../../../src/pods/images/collection/image-collector.ts'
import { BUSYBOX_IMAGE, PAUSE_IMAGE } from '../../../src/standalone/images/node-images.ts'
import { createOciArchive } from '../../../src/standalone/images/oci-archive.ts'
import { FakeClock } from '../../fakes/fake-clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { TestNode } from '../support/test-node.ts'
import { testPod } from '../support/test-pod.ts'

const never = new AbortController().signal

// The agent checks every five minutes, which is too long for a test: the test calls the same collector for the same runtime.
test('a full disk removes unused images, and leaves those of containers and sandboxes', async () => {
  await using node = await TestNode.start()
  const { lab, runtime } = node
  const old = 'deckhand.local/old:1'
  const files = [{ kind: 'file', path: 'old', content: Buffer.from('old'), mode: 0o644 }] as const
  await writeFile(`${lab.folder}/old.tar`, createOciArchive([{ name: old, files }], 'amd64'))
  if (lab.runtime.name === 'docker') await lab.docker.load(`${lab.folder}/old.tar`)
  else await lab.containerd.ctr('images', 'import', '--all-platforms', '--no-unpack', `${lab.folder}/old.tar`)
  await lab.manifests.write('web', testPod('web'))
  await node.ready('web')
  const names = async () => {
    return (await runtime.listImages({}, never)).images.flatMap(({ repoTags }) => repoTags).toSorted()
  }
  await node.waitFor('the runtime to list the image', async () => (await names()).includes(old))

  const clock = new FakeClock()
  const events: string[] = []
  const spaces: number[] = []
  const collector = new ImageCollector({
    calls: runtime,
    // More than any disk can give.
    policy: { highPercent: 0, lowPercent: 0, minimumAgeMs: 120_000, maximumAgeMs: 0 },
    desiredPods: () => [],
    observedImages: () => [],
    readSpace: async (path) => {
      const space = await readFileSystemSpace(path)
      spaces.push(space.capacityBytes)
      return space
    },
    onRemaining: async () => {},
    events: { record: ({ reason }) => void events.push(reason) },
    clock,
    log: silentLogger,
  })
  await collector.observe(never)
  await assert.rejects(collector.collect(never), /freed 0 bytes/)
  await clock.advance(120_000)
  await assert.rejects(collector.collect(never), /freed [1-9]\d* bytes/)
  assert.deepEqual(await names(), [BUSYBOX_IMAGE, PAUSE_IMAGE])
  assert.deepEqual(events, ['FreeDiskSpaceFailed', 'FreeDiskSpaceFailed'])
  assert.ok(spaces.every((bytes) => bytes > 0))
})
