import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { ctrCommand } from '../../src/standalone/images/import-images.ts'
import type { TestNode } from '../e2e/support/test-node.ts'
import { testPod } from '../e2e/support/test-pod.ts'

const NODE_MS = 180_000
const POLL_MS = 1000

/** Runs the container image as a privileged pod of another node until a pod runs on the node inside, then ends it. Returns what the one inside says that it is. */
export async function runNodeInContainer(node: TestNode, archive: string, name: string): Promise<string> {
  const paths = { socket: node.lab.containerd.socket }
  const ctr = (args: readonly string[]) =>
    node.lab.runInside(ctrCommand({ paths, enter: [] }, ...args), { deadlineMs: NODE_MS })
  const imported = await ctr(['images', 'import', archive])
  assert.equal(imported.exitCode, 0, imported.stderr)
  const container = {
    name: 'main',
    image: name,
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
  const version = (await inside('deckhand', 'version')).stdout.trim()
  await node.waitFor(
    'the pod of the node inside to run',
    async () => {
      // Each question is a start of the executable.
      await sleep(POLL_MS)
      return /^default\/example-\S+ +yes +Running/m.test((await inside('deckhand', 'status')).stdout)
    },
    NODE_MS,
  )
  const log = await inside('sh', '-c', 'cat /var/lib/deckhand/logs/pods/default_example-*/*/0.log')
  assert.equal(log.exitCode, 0, log.stderr)
  // As "docker stop" ends it: the node inside leaves, and its pods end with the container.
  await node.lab.manifests.remove('machine')
  await node.waitFor('the container to be gone', async () => (await node.containers('machine')).length === 0, NODE_MS)
  return version
}
