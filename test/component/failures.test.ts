import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CriMethod } from '../../src/protocols/cri/cri-methods.ts'
import { PodSandboxState } from '../../src/protocols/cri/generated/runtime-v1.ts'
import { startAgent, until } from './create-agent.ts'
import type { World } from './create-agent.ts'
import { changes, createWantedContainer, createWantedPod, createWorld, hangNext, running } from './create-world.ts'

const LONGEST_RETRY_MS = 15_000

describe('a sandbox cannot be made', () => {
  test('which is an event and one line, and it is tried again after a while', async () => {
    await using world = await createWorld()
    world.cri.script.fail('runPodSandbox', 'Unknown', 'cni: no addresses left', 1)
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.pass(9500)
    assert.equal(world.cri.requests('runPodSandbox').length, 1)
    assert.deepEqual(
      agent.events.filter(({ reason }) => reason.includes('Sand')).map(({ type, message }) => [type, message]),
      [['Warning', 'Failed to create pod sandbox: rpc error: code = Unknown desc = cni: no addresses left']],
    )
    assert.deepEqual(
      agent.lines.filter(({ level }) => level === 'warn' || level === 'error').map(({ message }) => message),
      ['cannot sync pod, will try again'],
    )
    await agent.pass(1000)
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    assert.deepEqual(
      world.cri.requests('runPodSandbox').map(({ config }) => config?.metadata?.attempt),
      [0, 0],
    )
  })

  test('because its name is reserved: what is there is taken, without an alarm', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    // The runtime makes it, and the answer is lost.
    const lost = hangNext(world, 'runPodSandbox')
    agent.setPods([createWantedPod()])
    await until(() => world.cri.requests('runPodSandbox').length === 1, 'the first try')
    const [request] = world.cri.requests('runPodSandbox')
    world.cri.runtime.runSandbox(request?.config as never, '')
    lost.release()
    await agent.pass(1500)
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    assert.equal(world.cri.runtime.sandboxes.size, 1)
    assert.deepEqual(agent.reasons(), ['Pulled', 'Pulled', 'Created', 'Started'])
  })

  test('in time, and is ready late, beside the next one: it goes, and what runs in the next one stays', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    const lost = hangNext(world, 'runPodSandbox')
    agent.setPods([createWantedPod()])
    await until(() => world.cri.requests('runPodSandbox').length === 1, 'the first try')
    const [request] = world.cri.requests('runPodSandbox')
    const late = world.cri.runtime.runSandbox(request?.config as never, '')
    late.state = PodSandboxState.SANDBOX_NOTREADY
    const start = world.cri.script.hold('startContainer')
    lost.release()
    await agent.pass(1500)
    assert.equal(world.cri.requests('startContainer').length, 1)
    late.state = PodSandboxState.SANDBOX_READY
    start()
    await agent.pass(5000)
    assert.deepEqual(
      [...world.cri.runtime.sandboxes.values()].map(({ config }) => config.metadata?.attempt),
      [1],
    )
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    assert.deepEqual([world.cri.requests('startContainer').length, world.cri.requests('stopContainer').length], [1, 0])
  })

  test('because the disk is full: that is reported to its users', async () => {
    await using world = await createWorld()
    world.files.failures.set('makeDirectories', new Error('ENOSPC: no space left on device'))
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.settle()
    const reported = agent.events.find(({ reason }) => reason === 'Failed')?.message
    assert.equal(reported, 'error making pod data directories: ENOSPC: no space left on device')
    world.files.failures.clear()
    await agent.pass(LONGEST_RETRY_MS)
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
  })

  test('because each try leaves a dead one behind: they do not pile up', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.settle()
    for (let round = 0; round < 5; round += 1) {
      const [newest] = [...world.cri.runtime.sandboxes.values()].slice(-1)
      world.cri.script.fail('createContainer', 'Unknown', 'sandbox is dying', 1)
      world.cri.runtime.stopSandbox(newest?.id ?? '')
      await agent.pass(LONGEST_RETRY_MS)
    }
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    assert.ok(world.cri.runtime.sandboxes.size <= 2, `${world.cri.runtime.sandboxes.size} sandboxes`)
    assert.ok(world.cri.runtime.containers.size <= 2, `${world.cri.runtime.containers.size} containers`)
  })
})

interface StartCase {
  readonly name: string
  readonly method: CriMethod
  readonly reason: string
  readonly restartCount: number
}

const startCases: readonly StartCase[] = [
  { name: 'made', method: 'createContainer', reason: 'CreateContainerError', restartCount: 0 },
  { name: 'started', method: 'startContainer', reason: 'RunContainerError', restartCount: 0 },
]

describe('a container cannot be', () => {
  for (const { name, method, reason, restartCount } of startCases) {
    test(`${name}: the status says why, and it is tried again after a while`, async () => {
      await using world = await createWorld()
      world.cri.script.fail(method, 'Unknown', 'runtime says no', 2)
      await using agent = await startAgent(world)
      agent.setPods([createWantedPod()])
      await agent.pass(9500)
      assert.equal(world.cri.requests(method).length, 1)
      const [status] = agent.statusOf('u-1')?.containerStatuses ?? []
      assert.deepEqual(status?.state, { waiting: { reason, message: 'runtime says no' } })
      await agent.pass(2 * LONGEST_RETRY_MS)
      const [later] = agent.statusOf('u-1')?.containerStatuses ?? []
      assert.deepEqual([later?.ready, later?.restartCount], [true, restartCount])
      assert.equal(world.cri.requests(method).length, 3)
      assert.deepEqual(running(world), ['main'])
    })
  }

  test('executed: the failed instance counts as one, and the status shows the reason', async () => {
    let broken = true
    await using world = await createWorld({ programOf: () => (broken ? { startError: 'exec: not found' } : {}) })
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod()])
    await agent.pass(9500)
    assert.equal(world.cri.requests('startContainer').length, 1)
    assert.equal(agent.statusOf('u-1')?.containerStatuses?.[0]?.state?.waiting?.reason, 'RunContainerError')
    broken = false
    await agent.pass(LONGEST_RETRY_MS)
    assert.deepEqual(agent.statusOf('u-1')?.containerStatuses?.[0]?.restartCount, 1)
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
  })

  test('prepared on the disk: the status says why, and the containers beside it run', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    world.files.failures.set('makeTerminationLog', new Error('EROFS: read-only file system'))
    const containers = [
      createWantedContainer({ name: 'a', terminationMessagePath: '/dev/termination-log' }),
      createWantedContainer({ name: 'b' }),
    ]
    agent.setPods([createWantedPod('u-1', { containers })])
    await agent.settle()
    assert.deepEqual(running(world), ['b'])
    assert.deepEqual(agent.statusOf('u-1')?.containerStatuses?.[0]?.state?.waiting, {
      reason: 'CreateContainerConfigError',
      message: 'EROFS: read-only file system',
    })
    world.files.failures.clear()
    await agent.pass(LONGEST_RETRY_MS)
    assert.deepEqual(running(world), ['a', 'b'])
  })

  test('linked to its log: it runs all the same, and so do those after it', async () => {
    await using world = await createWorld()
    world.files.failures.set('linkLog', new Error('EROFS'))
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod('u-1', { containers: ['a', 'b'].map((name) => createWantedContainer({ name })) })])
    await agent.settle()
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    assert.deepEqual(running(world), ['a', 'b'])
  })

  test('initialized: nothing after it starts until it is', async () => {
    await using world = await createWorld()
    world.cri.script.fail('createContainer', 'Unknown', 'no', 1)
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod('u-1', { initContainers: [createWantedContainer({ name: 'prepare' })] })])
    await agent.settle()
    assert.deepEqual(running(world), [])
    await agent.pass(LONGEST_RETRY_MS)
    assert.deepEqual(running(world), ['prepare'])
  })
})

const METHODS: readonly CriMethod[] = [
  'imageStatus',
  'pullImage',
  'runPodSandbox',
  'podSandboxStatus',
  'createContainer',
  'startContainer',
  'listPodSandbox',
  'listContainers',
  'containerStatus',
  'stopContainer',
  'stopPodSandbox',
  'removeContainer',
  'removePodSandbox',
]

/** A whole life: one pod runs, another one comes and goes, and in the end only the first is there, once. */
async function liveThrough(disturb: (world: World) => void, waitMs: number) {
  await using world = await createWorld({ images: [] })
  await using agent = await startAgent(world)
  const kept = createWantedPod('kept')
  agent.setPods([])
  await agent.settle()
  disturb(world)
  agent.setPods([kept, createWantedPod('leaving')])
  await agent.pass(waitMs, 1000)
  agent.setPods([kept])
  await agent.pass(waitMs + 10_000, 1000)
  await until(
    () => agent.workers.size === 1 && agent.statusOf('kept')?.phase === 'Running',
    'the pod that is kept runs',
  )
  assert.deepEqual(running(world), ['main'])
  assert.equal(world.cri.runtime.sandboxes.size, 1)
  assert.equal(world.cri.runtime.containers.size, 1)
  assert.deepEqual(
    agent.lines.filter(({ level }) => level === 'error').map(({ message, fields }) => [message, fields]),
    [],
  )
  return agent.statusOf('kept')?.containerStatuses?.[0]?.restartCount
}

describe('the end is right although once', () => {
  for (const method of METHODS) {
    for (const code of ['Unknown', 'Unavailable', 'NotFound'] as const) {
      test(`${method} fails with ${code}`, async () => {
        const restarts = await liveThrough((world) => world.cri.script.fail(method, code, 'planned', 1), 40_000)
        assert.equal(restarts, 0)
      })
    }

    test(`the runtime goes away at ${method}`, async () => {
      const restarts = await liveThrough((world) => {
        whenCalled(world, method, () => void world.cri.dropConnections())
      }, 40_000)
      assert.equal(restarts, 0)
    })

    // A pull takes as long as it takes, and only the end of its pod ends it.
    if (method === 'pullImage') continue
    test(`${method} hangs`, async () => {
      const restarts = await liveThrough((world) => {
        const hung = hangNext(world, method)
        whenCalled(world, method, hung.stop)
      }, 300_000)
      assert.equal(restarts, 0)
    })
  }
})

/** Does something while the next call of a method is under way. */
function whenCalled({ cri }: World, method: CriMethod, act: () => void): void {
  const before = cri.requests(method).length
  until(() => cri.requests(method).length > before, `${method} is called`).then(act, act)
}

test('a pod whose parts cannot make progress does not keep the runtime busy', async () => {
  await using world = await createWorld({ programOf: () => ({ exitsAfterMs: 1000 }) })
  await using agent = await startAgent(world)
  const containers = ['a', 'b'].map((name) => createWantedContainer({ name }))
  world.cri.script.fail('createContainer', 'Unknown', 'no', 2)
  agent.setPods([createWantedPod('u-1', { restartPolicy: 'Never', containers })])
  await agent.settle()
  // Only the first container ever ran when the machine lost the sandbox.
  world.cri.script.heal('createContainer')
  const [sandbox] = world.cri.runtime.sandboxes.values()
  world.cri.runtime.createContainer(sandbox?.id ?? '', world.cri.requests('createContainer')[0]?.config as never)
  world.cri.runtime.stopSandbox(sandbox?.id ?? '')
  await agent.pass(5000)
  assert.ok(changes(world).length < 12, changes(world).join(', '))
})

test('pods that go on failing in the same way do not fill the log', async () => {
  await using world = await createWorld()
  await using agent = await startAgent(world)
  agent.setPods([createWantedPod('u-1')])
  await agent.settle()
  const readOnly = new Error('EROFS: read-only file system')
  for (const method of ['makeDirectories', 'removePod'] as const) world.files.failures.set(method, readOnly)
  const before = agent.lines.length
  // One has to go, the other to come: neither can.
  agent.setPods([createWantedPod('u-2')])
  await agent.pass(119_000, 1000)
  const failures = agent.lines.slice(before).filter(({ level }) => level === 'error' || level === 'warn')
  assert.deepEqual(failures.map(({ message, fields }) => `${message} ${String(fields['pod'])}`).sort(), [
    ...Array(2).fill('cannot sync pod, will try again shop/pod-u-2'),
    ...Array(2).fill('pod step failed, will try again shop/pod-u-1'),
  ])
  world.files.failures.clear()
  await agent.pass(20_000, 1000)
  assert.equal(agent.statusOf('u-2')?.phase, 'Running')
})

test('images whose list is too large to be sent are collected by a stream; without streams that fails and says what helps', async () => {
  for (const newer of [true, false]) {
    await using world = await createWorld({ newer })
    await using agent = await startAgent(world)
    world.cri.script.fail('listImages', 'ResourceExhausted', 'grpc: trying to send message larger than max')
    const collected = agent.kubelet.pods.images.collector.collect(new AbortController().signal)
    if (newer) await collected
    else await assert.rejects(collected, /the list of images is larger than .* Remove unused images/)
  }
})
