import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testPod } from '../e2e/support/test-pod.ts'
import { CniNode } from './cni-node.ts'

// The start of a sandbox and its network: created, started, attached by one plugin after the other, written down.
const DELAYS_MS = [100, 200, 300, 400, 500, 700, 900]
const SLOW_MS = 120_000

/** Of each pod one address of both families, one record and one device; what is there instead is in the error. */
async function waitForNetworks(cni: CniNode, pods: number): Promise<void> {
  const find = async () => ({
    leases: Object.fromEntries(await cni.leases()),
    records: await cni.records(),
    devices: await cni.devices(),
  })
  const isRight = async () => {
    const { leases, records, devices } = await find()
    return Object.keys(leases).length === 2 * pods && records.length === pods && devices === pods
  }
  try {
    await cni.node.waitFor(`what ${pods} pods have`, isRight, SLOW_MS)
  } catch (error) {
    const found = { ...(await find()), containers: await cni.node.lab.docker.names() }
    throw new Error(`${pods} pods have other networks: ${JSON.stringify(found)}`, { cause: error })
  }
}

test('a plugin of a killed agent that is still at work is waited for: no address is lost', async () => {
  await using cni = await CniNode.start()
  const { node } = cni
  await cni.configure()
  const { begun, attached } = await cni.delayNextAttachment()
  await node.lab.manifests.write('late', testPod('late'))
  await node.waitFor('the plugin at work', async () => existsSync(begun))
  await node.agent.kill('SIGKILL')
  await node.startAgent()
  await node.waitFor('the plugin to be done', async () => existsSync(attached))
  const { status } = await node.ready('late', SLOW_MS)
  assert.ok((await cni.leases()).has(status?.podIP ?? ''))
  await waitForNetworks(cni, 1)
})

for (const victim of ['the agent', 'Docker'] as const) {
  test(`${victim} may be killed while plugins are at work: nothing runs twice, no address is lost`, async (t) => {
    await using cni = await CniNode.start()
    const { node } = cni
    await cni.configure()
    const { manifests, runtime } = node.lab
    await manifests.write('steady', testPod('steady'))
    const steady = await node.ready('steady')
    const kill = async () => {
      if (victim === 'Docker') return await runtime.restart()
      await node.agent.kill('SIGKILL')
      await node.startAgent()
      await node.agent.healthy()
    }
    const hasOnly = async (pods: number) => await waitForNetworks(cni, pods)

    for (const ms of DELAYS_MS) {
      const name = `pod-${ms}`
      await t.test(`${ms} ms after a pod was asked for`, async () => {
        await manifests.write(name, testPod(name))
        await sleep(ms)
        await kill()
        const { status } = await node.ready(name, SLOW_MS)
        assert.ok((await cni.leases()).has(status?.podIP ?? ''))
        assert.equal((await node.running(name)).length, 1)
        await hasOnly(2)
      })
      await t.test(`${ms} ms after it was removed`, async () => {
        const pod = await node.ready(name)
        await manifests.remove(name)
        await sleep(ms)
        await kill()
        await node.gone(pod, SLOW_MS)
        assert.equal((await node.running(name)).length, 0)
        await hasOnly(1)
      })
    }
    const now = await node.ready('steady')
    assert.deepEqual(now.status?.podIPs, steady.status?.podIPs)
    assert.equal(now.status?.containerStatuses?.[0]?.restartCount, 0)
    const names = await node.lab.docker.names()
    assert.equal(names.length, 2, names.join())
  })
}
