import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startAgent } from './create-agent.ts'
import { createWantedPod, createWorld } from './create-world.ts'

describe('dead containers', () => {
  test('of ended pods go when there are too many, the oldest first; what is reported of the pods stays', async () => {
    await using world = await createWorld({ programOf: () => ({ exitsAfterMs: 1000, exitCode: 3 }) })
    await using agent = await startAgent(world)
    const pods = ['u-1', 'u-2', 'u-3'].map((uid) => createWantedPod(uid, { restartPolicy: 'Never' }))
    for (const [index] of pods.entries()) {
      agent.setPods(pods.slice(0, index + 1))
      await agent.pass(5000)
    }
    const left = () =>
      [...world.cri.runtime.containers.values()].map(
        ({ config }) => config.labels['io.kubernetes.pod.uid'] ?? 'unknown',
      )
    assert.deepEqual(left().sort(), ['u-1', 'u-2', 'u-3'])
    agent.workers.collectDead(-1)
    await agent.settle()
    assert.equal(left().length, 3)
    agent.workers.collectDead(1)
    await agent.settle()
    assert.deepEqual(left(), ['u-3'])
    assert.equal(agent.statusOf('u-1')?.containerStatuses?.[0]?.state?.terminated?.exitCode, 3)
    await agent.pass(120_000)
    assert.equal(agent.statusOf('u-1')?.phase, 'Failed')
    assert.deepEqual(left(), ['u-3'], 'none of them runs again')
  })

  test('stay for their time, also when their pod is gone', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, { flags: ['--minimum-container-ttl-duration=10m'] })
    agent.setPods([createWantedPod()])
    await agent.settle()
    agent.setPods([])
    await agent.pass(60_000)
    assert.equal(world.cri.runtime.containers.size, 1)
    await agent.pass(600_000, 10_000)
    assert.equal(world.cri.runtime.containers.size, 0)
    assert.equal(agent.workers.size, 0)
  })

  test('that cannot be removed are reported on the node, now and then', async () => {
    await using world = await createWorld()
    const nodeEvents: string[] = []
    await using agent = await startAgent(world, { nodeEvents })
    agent.setPods([createWantedPod()])
    await agent.settle()
    world.cri.script.fail('removeContainer', 'Unknown', 'device or resource busy', 1000)
    agent.setPods([])
    await agent.pass(10_000)
    const reported = () => nodeEvents.filter((reason) => reason === 'ContainerGCFailed').length
    assert.equal(reported(), 1)
    await agent.pass(60_000, 5000)
    assert.equal(reported(), 2)
  })

  test('do not hold up a pod that comes back', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, { flags: ['--minimum-container-ttl-duration=10m'] })
    const pods = [createWantedPod()]
    agent.setPods(pods)
    await agent.settle()
    agent.setPods([])
    await agent.pass(1000)
    agent.setPods(pods)
    await agent.pass(2000)
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
  })
})
