import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startAgent, until } from './create-agent.ts'
import {
  changes,
  createWantedContainer,
  createWantedPod,
  createWorld,
  hangNext,
  instanceOf,
  running,
} from './create-world.ts'

const LINGER_MS = 5000

describe('a pod ends', () => {
  test('with its grace, then its sandbox, and after a while nothing of it is left', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod('u-1', { terminationGracePeriodSeconds: 7 })])
    await agent.settle()
    agent.setPods([])
    await until(() => world.cri.requests('stopContainer').length === 1, 'the stop')
    assert.equal(agent.statusOf('u-1'), undefined, 'it is not wanted any more')
    await agent.pass(6500)
    assert.deepEqual(running(world), ['main'])
    await agent.pass(500)
    assert.deepEqual(changes(world).slice(3), ['stopContainer main 7s', 'stopPodSandbox'])
    await agent.pass(LINGER_MS)
    assert.deepEqual(changes(world).slice(5), ['removeContainer gone', 'removePodSandbox'], 'it is stopped once')
    assert.equal(agent.workers.size, 0)
    assert.equal(world.cri.runtime.sandboxes.size + world.cri.runtime.containers.size, 0)
    assert.deepEqual(agent.cgroupsRemoved, ['u-1'])
    assert.deepEqual([...world.files.files.keys(), ...world.files.directories], [])
  })

  test("although its directory stays, for something that is not the agent's: that is reported once", async () => {
    await using world = await createWorld()
    const nodeEvents: string[] = []
    await using agent = await startAgent(world, { nodeEvents })
    agent.setPods([createWantedPod()])
    await agent.settle()
    world.files.foreign.set('u-1', ['/root/pods/u-1/foreign (mounted)'])
    agent.setPods([])
    await agent.pass(LINGER_MS + 60_000, 1000)
    assert.equal(agent.workers.size, 0)
    assert.deepEqual(nodeEvents, ['PodDirectoryKept'])
    assert.equal(agent.lines.filter(({ message }) => message.includes('it stays')).length, 1)
    assert.deepEqual(
      agent.lines.filter(({ level }) => level === 'error'),
      [],
    )
  })

  test('although nothing of it was ever created', async () => {
    await using world = await createWorld()
    world.cri.script.fail('runPodSandbox', 'Unknown', 'no network')
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.settle()
    agent.setPods([])
    await agent.pass(LINGER_MS + 1000)
    assert.equal(agent.workers.size, 0)
  })

  test('sidecars last and in reverse, and all share one grace', async () => {
    const deaf = new Set(['main', 'first'])
    await using world = await createWorld({
      programOf: ({ metadata }) => (deaf.has(metadata?.name ?? '') ? { onTerm: 'ignore' } : {}),
    })
    await using agent = await startAgent(world)
    const initContainers = ['first', 'second'].map((name) => createWantedContainer({ name, restartPolicy: 'Always' }))
    const containers = [createWantedContainer(), createWantedContainer({ name: 'quick' })]
    agent.setPods([createWantedPod('u-1', { initContainers, containers, terminationGracePeriodSeconds: 20 })])
    await agent.settle()
    assert.deepEqual(running(world), ['first', 'main', 'quick', 'second'])
    agent.setPods([])
    await until(() => !running(world).includes('quick'), 'the quick one has ended')
    await agent.pass(12_000)
    assert.deepEqual(running(world), ['first', 'main', 'second'])
    world.cri.exitContainer(instanceOf(world, 'main'), 0)
    await agent.settle()
    assert.deepEqual(running(world), ['first'])
    await agent.pass(8000)
    const stops = changes(world).filter((change) => change.startsWith('stop'))
    assert.deepEqual(stops.slice(0, 2).sort(), ['stopContainer main 20s', 'stopContainer quick 20s'])
    assert.deepEqual(stops.slice(2), ['stopContainer second 8s', 'stopContainer first 8s', 'stopPodSandbox'])
  })

  test('within its grace although a container that others wait for does not stop', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const hung = hangNext(world, 'stopContainer')
    await using agent = await startAgent(world)
    const initContainers = [createWantedContainer({ name: 'proxy', restartPolicy: 'Always' })]
    agent.setPods([createWantedPod('u-1', { initContainers, terminationGracePeriodSeconds: 10 })])
    await agent.settle()
    agent.setPods([])
    await until(() => world.cri.requests('stopContainer').length === 1, 'the first stop')
    hung.stop()
    await agent.pass(10_000)
    assert.deepEqual(
      world.cri.requests('stopContainer').map(({ timeout }) => timeout),
      [10n, 2n],
    )
    await agent.pass(2000)
    assert.deepEqual(running(world), ['main'])
  })

  test('also when the runtime fails to stop it at first, and that is reported to its users', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, { sources: ['api'] })
    const pod = createWantedPod()
    agent.setPods([pod], 'api')
    await agent.settle()
    world.cri.script.fail('stopContainer', 'Unknown', 'shim is stuck', 1)
    const metadata = { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 }
    agent.setPods([{ ...pod, metadata }], 'api')
    await agent.settle()
    assert.deepEqual(running(world), ['main'])
    assert.equal(agent.reasons().at(-1), 'FailedKillPod')
    await agent.pass(10_000)
    assert.deepEqual(running(world), [])
    assert.deepEqual(
      world.cri.requests('stopContainer').map(({ timeout }) => timeout),
      [3n, 2n],
    )
    assert.equal(agent.statusOf('u-1')?.phase, 'Succeeded')
    agent.setPods([], 'api')
    await agent.pass(LINGER_MS)
    assert.equal(agent.workers.size, 0)
  })
})

describe('a pod is removed while', () => {
  for (const method of ['runPodSandbox', 'createContainer', 'startContainer'] as const) {
    test(`${method} is under way: what comes of it is ended`, async () => {
      await using world = await createWorld()
      const hung = hangNext(world, method)
      await using agent = await startAgent(world)
      agent.setPods([createWantedPod()])
      await until(() => world.cri.requests(method).length === 1, `${method} is called`)
      agent.setPods([])
      await agent.settle()
      hung.release()
      await agent.pass(LINGER_MS + 1000)
      assert.equal(agent.workers.size, 0)
      assert.equal(world.cri.runtime.sandboxes.size + world.cri.runtime.containers.size, 0)
    })
  }

  test('its image is pulled: the pull is given up at once', async () => {
    await using world = await createWorld({ images: [] })
    hangNext(world, 'pullImage')
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await until(() => world.cri.requests('runPodSandbox').length === 1, 'the sandbox')
    await agent.settle()
    agent.setPods([])
    await agent.pass(LINGER_MS + 500)
    assert.equal(agent.workers.size, 0)
    assert.equal(world.cri.runtime.sandboxes.size, 0)
  })

  test('it waits for a start slot: nothing is made', async () => {
    await using world = await createWorld()
    const hung = hangNext(world, 'runPodSandbox')
    await using agent = await startAgent(world, { places: 1 })
    agent.setPods([createWantedPod('hung'), createWantedPod('u-1')])
    await until(() => agent.starts.waiting === 1, 'one waits')
    agent.setPods([createWantedPod('hung')])
    await agent.settle()
    assert.equal(agent.starts.waiting, 0)
    hung.release()
    await agent.pass(LINGER_MS + 1000)
    assert.equal(agent.workers.size, 1)
    assert.equal(world.cri.requests('runPodSandbox').length, 1)
  })

  test('it waits for an image that cannot be pulled: nothing is tried any more, and it has failed', async () => {
    await using world = await createWorld({ images: [] })
    world.cri.script.fail('pullImage', 'Unknown', 'registry is down')
    await using agent = await startAgent(world, { sources: ['api'] })
    const pod = createWantedPod()
    agent.setPods([pod], 'api')
    await agent.pass(26_000, 1000)
    const waiting = agent.statusOf('u-1')?.containerStatuses?.[0]?.state?.waiting
    assert.equal(waiting?.reason, 'ImagePullBackOff')
    const pulls = world.cri.requests('pullImage').length
    const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }
    agent.setPods([{ ...pod, metadata: { ...pod.metadata, ...deletion } }], 'api')
    await agent.pass(400_000, 10_000)
    assert.equal(agent.statusOf('u-1')?.phase, 'Failed')
    assert.equal(world.cri.requests('pullImage').length, pulls)
    assert.equal(world.cri.requests('createContainer').length, 0)
  })

  test('it waits for its back-off: it is gone without another start', async () => {
    await using world = await createWorld({ programOf: () => ({ exitsAfterMs: 100, exitCode: 1 }) })
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.pass(2000)
    const starts = world.cri.requests('startContainer').length
    agent.setPods([])
    await agent.pass(LINGER_MS + 1000)
    assert.equal(agent.workers.size, 0)
    assert.equal(world.cri.requests('startContainer').length, starts)
  })
})

describe('two pods of one name', () => {
  test('the second waits and starts the moment the first has ended', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod('old', { terminationGracePeriodSeconds: 5 }, 'web')])
    await agent.settle()
    agent.setPods([createWantedPod('new', {}, 'web')])
    await agent.pass(4500)
    assert.equal(world.cri.requests('runPodSandbox').length, 1)
    assert.equal(agent.statusOf('new')?.phase, 'Pending')
    await agent.pass(500)
    assert.equal(agent.statusOf('new')?.phase, 'Running', 'not only after a while')
  })

  test('a chain of changes: only the last one starts', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    await using agent = await startAgent(world)
    for (const uid of ['a', 'b', 'c', 'd']) {
      agent.setPods([createWantedPod(uid, { terminationGracePeriodSeconds: 5 }, 'web')])
      await agent.settle()
    }
    assert.equal(agent.workers.size, 2)
    await agent.pass(11_000)
    assert.deepEqual(
      world.cri.requests('runPodSandbox').map(({ config }) => config?.metadata?.uid),
      ['a', 'd'],
    )
    assert.equal(agent.workers.size, 1)
  })

  test('of the API do not wait for each other', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    await using agent = await startAgent(world, { sources: ['api'] })
    agent.setPods([createWantedPod('old', {}, 'web')], 'api')
    await agent.settle()
    agent.setPods([createWantedPod('new', {}, 'web')], 'api')
    await agent.settle()
    assert.equal(agent.statusOf('new')?.phase, 'Running')
  })
})

describe('a pod with a fixed UID comes back while it ends', () => {
  test('and runs again once the old one is gone, with its newest spec', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.settle()
    agent.setPods([])
    agent.setPods([createWantedPod()])
    agent.setPods([createWantedPod('u-1', { containers: [createWantedContainer({ name: 'newer' })] })])
    await agent.settle()
    assert.deepEqual(running(world), ['newer'])
    assert.equal(agent.workers.size, 1)
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
  })

  test('and not when it is removed again meanwhile', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.settle()
    agent.setPods([])
    agent.setPods([createWantedPod()])
    agent.setPods([])
    await agent.pass(LINGER_MS + 1000)
    assert.equal(agent.workers.size, 0)
    assert.equal(world.cri.requests('runPodSandbox').length, 1)
  })

  test('and also when it had only waited for its name', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod('old', { terminationGracePeriodSeconds: 5 }, 'web')])
    await agent.settle()
    const next = createWantedPod('new', {}, 'web')
    agent.setPods([next])
    agent.setPods([])
    agent.setPods([next])
    await agent.pass(6000)
    assert.equal(agent.statusOf('new')?.phase, 'Running')
  })
})
