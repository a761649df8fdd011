import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startAgent } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld, instanceOf, running } from './create-world.ts'

const STEP_MS = 500

describe('a container that crashes', () => {
  test('is restarted at once, then after 10, 20, 40, 80 seconds', async () => {
    const starts: number[] = []
    await using world = await createWorld({
      programOf: () => (starts.push(world.clock.now()), { exitsAfterMs: 1000, exitCode: 1 }),
    })
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.pass(180_000, STEP_MS)
    const waits = starts.slice(1).map((start, index) => (start - (starts[index] as number) - 1000) / 1000)
    const rounded = waits.map((wait) => Math.floor(wait))
    assert.deepEqual(rounded, [0, 10, 20, 40, 80])
    const [status] = agent.statusOf('u-1')?.containerStatuses ?? []
    assert.equal(status?.restartCount, 5)
    assert.deepEqual(status?.state?.waiting, {
      reason: 'CrashLoopBackOff',
      message: 'back-off 2m40s restarting failed container=main pod=pod-u-1_shop(u-1)',
    })
    assert.equal(status?.lastState?.terminated?.exitCode, 1)
    // One for each wait, and one more in the wait of 80 s.
    assert.equal(agent.reasons().filter((reason) => reason === 'BackOff').length, 6)
    assert.equal(world.cri.runtime.containers.size, 1, 'older instances are removed')
    assert.equal(world.cri.runtime.sandboxes.size, 1)
  })

  for (const [how, runtimeAheadMs] of [
    ['ahead of', 3_600_000],
    ['behind', -3_600_000],
  ] as const) {
    test(`waits as long when the clock of the runtime is ${how} ours, and leaves nothing behind`, async () => {
      const starts: number[] = []
      await using world = await createWorld({
        runtimeAheadMs,
        programOf: () => (starts.push(world.clock.now()), { exitsAfterMs: 1000, exitCode: 1 }),
      })
      await using agent = await startAgent(world)
      agent.setPods([createWantedPod()])
      await agent.pass(180_000, STEP_MS)
      assert.deepEqual(
        starts.slice(1).map((start, index) => Math.floor((start - (starts[index] as number) - 1000) / 1000)),
        [0, 10, 20, 40, 80],
      )
      assert.equal(world.cri.runtime.containers.size, 1, 'older instances are removed')
      agent.setPods([])
      await agent.pass(10_000)
      assert.equal(agent.workers.size, 0)
    })
  }

  test('is forgiven after it ran for long', async () => {
    const starts: number[] = []
    await using world = await createWorld({ programOf: () => (starts.push(world.clock.now()), {}) })
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    for (let round = 0; round < 3; round += 1) {
      await agent.pass(STEP_MS)
      world.cri.exitContainer(instanceOf(world), 1)
      await agent.pass(21_000, STEP_MS)
    }
    assert.equal(starts.length, 4)
    await agent.pass(601_000, 5000)
    world.cri.exitContainer(instanceOf(world), 1)
    await agent.pass(STEP_MS)
    assert.equal(starts.length, 5, 'at once')
  })

  test('waits from the start again after its image changed', async () => {
    const starts: number[] = []
    await using world = await createWorld({
      images: ['registry.test/app:1', 'registry.test/app:2'],
      programOf: () => (starts.push(world.clock.now()), { exitsAfterMs: 1000, exitCode: 1 }),
    })
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.pass(60_000, STEP_MS)
    const before = starts.length
    agent.setPods([createWantedPod('u-1', { containers: [createWantedContainer({ image: 'registry.test/app:2' })] })])
    await agent.pass(STEP_MS)
    assert.equal(starts.length, before + 1, 'at once')
    await agent.pass(13_000, STEP_MS)
    const [first = 0, second = 0] = starts.slice(before)
    assert.equal(Math.floor((second - first - 1000) / 1000), 10)
  })

  test('does not hold up its neighbours', async () => {
    await using world = await createWorld({
      programOf: ({ metadata }) => (metadata?.name === 'bad' ? { exitsAfterMs: 100, exitCode: 1 } : {}),
    })
    await using agent = await startAgent(world)
    const containers = [createWantedContainer({ name: 'bad' }), createWantedContainer({ name: 'good' })]
    agent.setPods([createWantedPod('u-1', { containers })])
    await agent.pass(5000)
    assert.deepEqual(running(world), ['good'])
    world.cri.exitContainer(instanceOf(world, 'good'), 0)
    await agent.pass(STEP_MS)
    assert.deepEqual(running(world), ['good'])
  })
})

describe('an image that cannot be pulled', () => {
  test('is shown, then waited for, and pulled again after the wait', async () => {
    await using world = await createWorld({ images: [] })
    world.cri.script.fail('pullImage', 'Unknown', 'registry is down')
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.settle()
    const reason = () => agent.statusOf('u-1')?.containerStatuses?.[0]?.state?.waiting?.reason
    assert.equal(reason(), 'ErrImagePull')
    assert.equal(world.cri.requests('pullImage').length, 1)
    await agent.pass(15_000)
    assert.equal(world.cri.requests('pullImage').length, 2)
    await agent.pass(11_000)
    assert.equal(reason(), 'ImagePullBackOff')
    world.cri.script.heal('pullImage')
    await agent.pass(40_000)
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
  })
})

describe('a pod that may be active only so long', () => {
  test('fails when its time is up, is stopped with its grace and stays failed', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod('u-1', { activeDeadlineSeconds: 30, terminationGracePeriodSeconds: 4 })])
    await agent.pass(29_000)
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    await agent.pass(1500)
    const { phase, reason } = agent.statusOf('u-1') ?? {}
    assert.deepEqual([phase, reason], ['Failed', 'DeadlineExceeded'])
    assert.deepEqual(running(world), [])
    assert.deepEqual(
      world.cri.requests('stopContainer').map(({ timeout }) => timeout),
      [4n],
    )
    assert.equal(agent.reasons().filter((reported) => reported === 'DeadlineExceeded').length, 1)
    await agent.pass(120_000, 1000)
    assert.deepEqual(running(world), [])
    assert.equal(agent.statusOf('u-1')?.phase, 'Failed')
  })

  for (const [how, runtimeAheadMs] of [
    ['ahead of', 3_600_000],
    ['behind', -3_600_000],
  ] as const)
    test(`fails in time, and no earlier, when the clock of the runtime is ${how} ours`, async () => {
      await using world = await createWorld({ runtimeAheadMs })
      await using agent = await startAgent(world)
      agent.setPods([createWantedPod('u-1', { activeDeadlineSeconds: 30 })])
      await agent.pass(29_000)
      assert.equal(agent.statusOf('u-1')?.phase, 'Running')
      await agent.pass(1500)
      assert.equal(agent.statusOf('u-1')?.reason, 'DeadlineExceeded')
    })

  test('fails in time although the agent was another when it began', async () => {
    await using world = await createWorld()
    const pod = createWantedPod('u-1', { activeDeadlineSeconds: 60 })
    const first = await startAgent(world)
    first.setPods([pod])
    await first.pass(40_000, 1000)
    const before = first.statusOf('u-1')?.startTime
    await first.die()
    await using second = await startAgent(world)
    second.setPods([pod])
    await second.pass(1000)
    assert.equal(second.statusOf('u-1')?.phase, 'Running')
    assert.notEqual(
      second.statusOf('u-1')?.startTime,
      before,
      'as with the Go kubelet, which has no API to read it from',
    )
    await second.pass(25_000, 1000)
    assert.equal(second.statusOf('u-1')?.reason, 'DeadlineExceeded')
  })

  test('fails in time although it cannot start', async () => {
    await using world = await createWorld({ images: [] })
    world.cri.script.fail('pullImage', 'Unknown', 'no')
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod('u-1', { activeDeadlineSeconds: 3 })])
    await agent.pass(3500)
    assert.equal(agent.statusOf('u-1')?.phase, 'Failed')
  })
})
