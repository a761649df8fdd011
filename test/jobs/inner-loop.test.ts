import assert from 'node:assert/strict'
import { createOciArchive } from '../../src/standalone/images/oci-archive.ts'
import { machineArchitecture, readNodeImages } from '../../src/standalone/images/import-images.ts'
import { systemClock } from '../../src/base/async/clock.ts'
import { BUSYBOX, deployment, service } from './manifests.ts'
import type { JobNode } from './job-node.ts'
import { runJob } from './run-job.ts'

const PROGRAM = 'echo started; exec httpd -f -p 8080 -h /app'
const imageOf = (version: number) => `dev.example/shop:${version}`
let version = 0

/** An image as a build on this machine leaves it in a tar file. */
async function build(node: JobNode): Promise<string> {
  version += 1
  const images = await readNodeImages(systemClock, new AbortController().signal)
  const base = images.find(({ name }) => name === BUSYBOX)
  assert.ok(base !== undefined)
  const page = {
    kind: 'file',
    path: 'app/index.html',
    content: Buffer.from(`version ${version}\n`),
    mode: 0o644,
  } as const
  const image = { ...base, name: imageOf(version), files: [...base.files, page] }
  return await node.write(`shop-${version}.tar`, createOciArchive([image], machineArchitecture))
}

/** What the program answers, asked in its own container. */
async function answers(node: JobNode, expected: number): Promise<void> {
  await node.rolledOut('deployment/shop')
  const ask = ['exec', 'deployment/shop', '--', 'sh', '-c', 'wget -q -T 3 -O - http://shop/']
  await node.eventually(ask, new RegExp(`^version ${expected}\n$`))
}

/** Build, load, roll out, see it run, its logs, a file in and out of it, and back again. */
runJob("a developer's inner loop", {
  begin: async (node) => {
    await node.deckhand('images', 'load', await build(node))
    await node.apply(deployment('shop', PROGRAM, { image: imageOf(version) }) + service('shop'))
  },
  holds: async (node) => {
    const before = version
    await answers(node, before)
    await node.deckhand('images', 'load', await build(node))
    await node.kubectl('set', 'image', 'deployment/shop', `main=${imageOf(version)}`)
    await answers(node, version)
    await node.eventually(['logs', 'deployment/shop'], /^started\n$/)
    await node.kubectl('rollout', 'undo', 'deployment/shop')
    await answers(node, before)
    await node.kubectl('set', 'image', 'deployment/shop', `main=${imageOf(version)}`)
    await answers(node, version)
  },
})
