import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startAgent, until } from './create-agent.ts'
import { changes, createWantedContainer, createWantedPod, createWorld, hangNext, running } from './create-world.ts'

const sidecar = createWantedContainer({ name: 'proxy', restartPolicy: 'Always' })
const init = createWantedContainer({ name: 'prepare' })

describe('a pod starts', () => {
  test('with its sandbox, its image and its container, and its status and events say so', async () => {
    await using world = await createWorld({ images: [] })
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.settle()
    assert.deepEqual(changes(world).sort(), [
      'createContainer main',
      'pullImage',
      'runPodSandbox',
      'startContainer main',
    ])
    assert.deepEqual(changes(world).slice(-2), ['createContainer main', 'startContainer main'])
    assert.deepEqual(running(world), ['main'])
    const status = agent.statusOf('u-1')
    assert.equal(status?.phase, 'Running')
    assert.equal(status?.podIP, '10.88.0.2')
    assert.equal(status?.containerStatuses?.[0]?.restartCount, 0)
    assert.deepEqual(agent.reasons(), ['Pulling', 'Pulled', 'Created', 'Started'])
    assert.deepEqual(agent.counted, ['sandbox ok', 'container regular ok', 'pod 0'])
    const [explanation] = agent.registry.explain()
    assert.equal(explanation?.why, 'Runs and is ready')
    assert.deepEqual(explanation.steps.map(({ name }) => name).sort(), [
      'create container "main"',
      'create sandbox',
      'image of container "main"',
      'start container "main"',
      'wait for a start slot',
      'wait for a start slot',
    ])
  })

  test('and its image comes while its sandbox is made', async () => {
    await using world = await createWorld({ images: [] })
    const sandbox = hangNext(world, 'runPodSandbox')
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await until(() => agent.reasons().includes('Pulled'), 'the image is there')
    assert.deepEqual(running(world), [])
    sandbox.release()
    await until(() => running(world).length === 1, 'the container runs')
  })

  test('and moves between cgroups are kept quick while its sandbox and its container are made, no longer', async () => {
    await using world = await createWorld()
    const calls = {
      runPodSandbox: hangNext(world, 'runPodSandbox'),
      'createContainer main': hangNext(world, 'createContainer'),
    }
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    for (const [name, call] of Object.entries(calls)) {
      await until(() => changes(world).includes(name), name)
      assert.equal(world.cgroups.quickWork, 1)
      call.release()
    }
    await until(() => running(world).length === 1, 'the container runs')
    await agent.settle()
    assert.equal(world.cgroups.quickWork, 0)
  })

  test('and nothing is done for moves while other pods wait for a start slot', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    const pods = Array.from({ length: 30 }, (_, index) => createWantedPod(`u-${index}`))
    agent.setPods(pods)
    await until(() => running(world).length === pods.length, 'all containers run')
    await agent.settle()
    const { crowdedWork, quickWork } = world.cgroups
    // Each has a sandbox and a container; most of them leave others behind.
    assert.ok(crowdedWork > 30 && crowdedWork < 60, `${crowdedWork} of 60`)
    assert.equal(quickWork, 0)
  })

  test('and its containers start in order: init containers one after the other, a sidecar stays', async () => {
    await using world = await createWorld({
      programOf: ({ metadata }) => (metadata?.name === 'prepare' ? { exitsAfterMs: 1000 } : {}),
    })
    await using agent = await startAgent(world)
    const containers = [createWantedContainer({ name: 'a' }), createWantedContainer({ name: 'b' })]
    agent.setPods([createWantedPod('u-1', { initContainers: [sidecar, init], containers })])
    await agent.settle()
    assert.deepEqual(running(world), ['prepare', 'proxy'])
    assert.equal(agent.statusOf('u-1')?.phase, 'Pending')
    await world.clock.advance(1000)
    await until(() => agent.statusOf('u-1')?.phase === 'Running', 'the pod runs')
    assert.deepEqual(running(world), ['a', 'b', 'proxy'])
    assert.deepEqual(
      changes(world).filter((change) => change.startsWith('startContainer')),
      ['startContainer proxy', 'startContainer prepare', 'startContainer a', 'startContainer b'],
    )
  })

  test('and one pull serves all pods that wait for the image', async () => {
    await using world = await createWorld({ images: [] })
    const pull = hangNext(world, 'pullImage')
    await using agent = await startAgent(world)
    agent.setPods(['u-1', 'u-2', 'u-3'].map((uid) => createWantedPod(uid)))
    await until(() => world.cri.requests('runPodSandbox').length === 3, 'the sandboxes')
    pull.release()
    await until(() => running(world).length === 3, 'all pods run')
    assert.equal(world.cri.requests('pullImage').length, 1)
  })

  test('only once the network is there, and at once when it comes; a pod of the host network does not wait', async () => {
    await using world = await createWorld()
    world.cri.setNetworkReady(false)
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod('u-1'), createWantedPod('u-2', { hostNetwork: true })])
    await agent.pass(4000)
    assert.equal(running(world).length, 1)
    assert.equal(agent.statusOf('u-2')?.phase, 'Running')
    assert.deepEqual(agent.reasons('u-1'), ['NetworkNotReady'], 'said now and then, however often it was tried')
    world.cri.setNetworkReady(true)
    await agent.health.check(agent.group.signal)
    await agent.settle()
    assert.equal(running(world).length, 2, 'not by waiting: no time has passed')
  })

  test('and is rejected when it asks for what this agent cannot do', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod('u-1', { resourceClaims: [{ name: 'gpu' }] })])
    await agent.settle()
    assert.deepEqual(changes(world), [])
    assert.equal(agent.statusOf('u-1')?.phase, 'Failed')
    assert.equal(agent.statusOf('u-1')?.reason, 'UnsupportedField')
    assert.equal(agent.registry.knows('u-1' as never), true)
    agent.setPods([])
    assert.equal(agent.registry.knows('u-1' as never), false)
  })
})

describe('many pods start', () => {
  test('a few at a time, and what is begun is finished first', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, { places: 1 })
    agent.setPods(['u-1', 'u-2', 'u-3'].map((uid) => createWantedPod(uid)))
    await agent.settle()
    assert.equal(running(world).length, 3)
    const steps = changes(world).map((change) => change.split(' ')[0])
    assert.ok(steps.indexOf('startContainer') < steps.lastIndexOf('runPodSandbox'), steps.join(', '))
  })

  for (const method of ['runPodSandbox', 'createContainer', 'startContainer', 'podSandboxStatus'] as const) {
    test(`although ${method} of one of them hangs`, async () => {
      await using world = await createWorld()
      const hung = hangNext(world, method)
      await using agent = await startAgent(world, { places: 1 })
      agent.setPods([createWantedPod('hung')])
      await until(() => world.cri.requests(method).length === 1, `${method} is called`)
      hung.stop()
      agent.setPods([createWantedPod('hung'), ...['u-1', 'u-2', 'u-3'].map((uid) => createWantedPod(uid))])
      await agent.pass(5000)
      assert.deepEqual(
        ['u-1', 'u-2', 'u-3'].map((uid) => agent.statusOf(uid)?.phase),
        ['Running', 'Running', 'Running'],
      )
      // The hung call runs into its deadline, and the pod is taken up again.
      await agent.pass(300_000, 5000)
      await agent.settle()
      assert.equal(agent.statusOf('hung')?.phase, 'Running')
      assert.equal(running(world).length, 4)
    })
  }

  test('although one that hangs is removed meanwhile', async () => {
    await using world = await createWorld()
    const hung = hangNext(world, 'runPodSandbox')
    await using agent = await startAgent(world, { places: 1 })
    agent.setPods([createWantedPod('hung')])
    await until(() => world.cri.requests('runPodSandbox').length === 1, 'the sandbox is asked for')
    hung.stop()
    agent.setPods([createWantedPod('u-1')])
    await agent.pass(5000)
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    hung.release()
    await agent.pass(6000)
    assert.equal(agent.workers.size, 1)
    assert.equal(world.cri.runtime.sandboxes.size, 1)
  })
  test('with the name servers that its node has by then; while their file makes no sense it waits, and the agent runs', async () => {
    await using world = await createWorld()
    const resolver = (text: string) => void world.files.files.set('/etc/resolv.conf', text)
    const servers = () => world.cri.requests('runPodSandbox').map(({ config }) => config?.dnsConfig?.servers)
    resolver('nameserver\n')
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await until(() => agent.reasons().includes('FailedCreatePodSandBox'), 'the pod fails')
    assert.deepEqual(servers(), [])
    assert.deepEqual(agent.nodeEvents, ['CheckLimitsForResolvConf'])
    resolver('nameserver 192.0.2.1\n')
    await agent.pass(10_000)
    assert.deepEqual(running(world), ['main'])
    resolver('nameserver 192.0.2.2\n')
    agent.setPods([createWantedPod(), createWantedPod('u-2')])
    await until(() => running(world).length === 2, 'the second pod runs')
    assert.deepEqual(servers(), [['192.0.2.1'], ['192.0.2.2']])
  })
})
