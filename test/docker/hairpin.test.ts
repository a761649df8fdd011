import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { TestNode } from '../e2e/support/test-node.ts'
import { testPod } from '../e2e/support/test-pod.ts'

/** The hairpin modes of all ports of Docker's bridge. */
async function readModes({ lab }: TestNode): Promise<string> {
  const { stdout } = await lab.runInside(['sh', '-c', 'cat /sys/class/net/docker0/brif/*/hairpin_mode'])
  return stdout.trim().split('\n').sort().join(' ')
}

describe('the hairpin mode of pods on Docker’s bridge', () => {
  let node: TestNode
  before(async () => void (node = await TestNode.start({ config: { hairpinMode: 'none' } }, 'docker')))
  after(() => node?.[Symbol.asyncDispose]())

  test('is left as it is where the configuration says so', async () => {
    await node.lab.manifests.write('early', testPod('early'))
    await node.ready('early')
    assert.equal(await readModes(node), '0')
  })

  test('is set without, for pods that run already and for new ones; a pod of the host’s network has none', async () => {
    await node.agent.kill()
    node.agent = await node.lab.startAgent()
    await node.waitFor('the mode of a pod that ran before', async () => (await readModes(node)) === '1')
    await node.lab.manifests.write('late', testPod('late'))
    await node.lab.manifests.write('host', testPod('host', { hostNetwork: true }))
    for (const name of ['early', 'late', 'host']) await node.ready(name)
    assert.equal(await readModes(node), '1 1')
    assert.ok(!(await node.agent.log()).some((line) => line.includes('hairpin')))
  })
})
