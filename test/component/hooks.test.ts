import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Lifecycle } from '../../src/model/generated/core-v1.ts'
import type { ExecResult } from '../../src/simulation/runtime/runtime-handlers.ts'
import { startAgent, until } from './create-agent.ts'
import { changes, createWantedContainer, createWantedPod, createWorld, instanceOf, running } from './create-world.ts'
import type { World } from './create-agent.ts'

const command = (...words: string[]) => ({ exec: { command: words } })
const podWith = (lifecycle: Lifecycle, uid = 'u-1') =>
  createWantedPod(uid, { containers: [createWantedContainer({ lifecycle })] })

/** Stops and hooks in the order in which the runtime was asked, with the names of containers. */
function stops({ cri }: World): string[] {
  const nameOf = (id: string) => cri.runtime.containers.get(id)?.config.metadata?.name
  return cri.called.flatMap(({ method, request }) => {
    const { containerId = '', timeout, cmd } = request as { containerId?: string; timeout?: bigint; cmd?: string[] }
    if (method === 'execSync') return [`${nameOf(containerId)} runs ${cmd?.join(' ')}`]
    return method === 'stopContainer' ? [`${nameOf(containerId)} stops in ${timeout}s`] : []
  })
}

describe('postStart', () => {
  test('holds up its own pod, and no other', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, { places: 1 })
    const containers = [
      createWantedContainer({ name: 'first', lifecycle: { postStart: { sleep: { seconds: 20 } } } }),
      createWantedContainer({ name: 'second' }),
    ]
    agent.setPods([createWantedPod('slow', { containers }), createWantedPod('other')])
    await agent.pass(19_000, 1000)
    assert.deepEqual(running(world), ['first', 'main'])
    assert.equal(agent.statusOf('other')?.phase, 'Running')
    // Its address is known while the hook runs, which may need a network that depends on that; nothing of it counts as running yet.
    const { podIP, phase, containerStatuses = [] } = agent.statusOf('slow') ?? {}
    assert.deepEqual(
      [podIP !== undefined && podIP !== '', phase, containerStatuses.map(({ ready }) => ready)],
      [true, 'Pending', [false, false]],
    )
    const why = agent.registry.explain().find(({ uid }) => uid === 'slow')?.why
    assert.equal(why, 'postStart hook of container "first", for 19.0 s')
    await agent.pass(2000)
    assert.deepEqual(running(world), ['first', 'main', 'second'])
    assert.equal(agent.statusOf('slow')?.phase, 'Running')
  })

  test('that fails stops the container, which shows why, and starts again after its back-off', async () => {
    let fails = true
    const onExec = (): ExecResult => ({ exitCode: fails ? 1 : 0 })
    await using world = await createWorld({ onExec })
    await using agent = await startAgent(world)
    agent.setPods([podWith({ postStart: command('hello'), preStop: command('bye') })])
    await agent.settle()
    assert.deepEqual(stops(world), ['main runs hello', 'main runs bye', 'main stops in 30s'])
    assert.deepEqual(running(world), [])
    assert.deepEqual(agent.statusOf('u-1')?.containerStatuses?.[0]?.state, {
      waiting: { reason: 'PostStartHookError', message: 'Command failed: exit code 1' },
    })
    assert.ok(agent.reasons().includes('FailedPostStartHook') && agent.reasons().includes('FailedPreStopHook'))
    fails = false
    await agent.pass(12_000)
    assert.deepEqual(running(world), ['main'])
    assert.equal(agent.statusOf('u-1')?.containerStatuses?.[0]?.restartCount, 1)
  })

  test('is given up when the pod is removed', async () => {
    await using world = await createWorld({ onExec: () => 'hang' })
    await using agent = await startAgent(world)
    agent.setPods([podWith({ postStart: command('forever') })])
    await until(() => world.cri.requests('execSync').length === 1, 'the hook')
    agent.setPods([])
    await agent.pass(6000)
    assert.deepEqual(
      world.cri.requests('stopContainer').map(({ timeout }) => timeout),
      [30n],
    )
    assert.equal(agent.workers.size, 0)
  })

  test('that the death of the agent cuts off is not run again, and its container goes on', async () => {
    await using world = await createWorld({ onExec: () => 'hang' })
    const first = await startAgent(world)
    first.setPods([podWith({ postStart: command('forever') })])
    await until(() => world.cri.requests('execSync').length === 1, 'the hook')
    await first.die()
    await using agent = await startAgent(world)
    agent.setPods([podWith({ postStart: command('forever') })])
    await agent.pass(60_000, 1000)
    assert.deepEqual(stops(world), ['main runs forever'])
    assert.equal(world.cri.requests('createContainer').length, 1)
    assert.deepEqual(
      agent.statusOf('u-1')?.containerStatuses?.map(({ ready, restartCount }) => [ready, restartCount]),
      [[true, 0]],
    )
  })
})

describe('preStop', () => {
  test('of sidecars is not held up, their signal is', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    const lifecycle = (name: string) => ({ name, lifecycle: { preStop: command('bye', name) } })
    const initContainers = ['outer', 'inner'].map((name) =>
      createWantedContainer({ ...lifecycle(name), restartPolicy: 'Always' }),
    )
    const main = createWantedContainer({ lifecycle: { preStop: { sleep: { seconds: 5 } } } })
    agent.setPods([createWantedPod('u-1', { initContainers, containers: [main] })])
    await agent.settle()
    agent.setPods([])
    await agent.settle()
    assert.deepEqual(stops(world), ['inner runs bye inner', 'outer runs bye outer'])
    await agent.pass(5000)
    assert.deepEqual(stops(world).slice(2), ['main stops in 25s', 'inner stops in 25s', 'outer stops in 25s'])
  })

  test('that never ends is cut by the grace period, and each container that waited gets two seconds', async () => {
    await using world = await createWorld({ onExec: () => 'hang', programOf: () => ({ onTerm: 'ignore' }) })
    await using agent = await startAgent(world)
    const initContainers = [createWantedContainer({ name: 'proxy', restartPolicy: 'Always' })]
    const containers = [createWantedContainer({ lifecycle: { preStop: command('forever') } })]
    agent.setPods([createWantedPod('u-1', { initContainers, containers, terminationGracePeriodSeconds: 4 })])
    await agent.settle()
    agent.setPods([])
    await agent.pass(3500)
    assert.deepEqual(stops(world), ['main runs forever'])
    await agent.pass(500)
    assert.deepEqual(stops(world).slice(1).sort(), ['main stops in 2s', 'proxy stops in 2s'])
    await agent.pass(2000)
    assert.deepEqual(running(world), [])
  })

  test('runs for a pod that is not known too, from what the runtime keeps of it', async () => {
    await using world = await createWorld()
    {
      await using first = await startAgent(world)
      first.setPods([podWith({ preStop: command('bye') })])
      await first.settle()
    }
    await using agent = await startAgent(world)
    agent.setPods([])
    await agent.settle()
    assert.deepEqual(stops(world), ['main runs bye', 'main stops in 2s'])
  })

  test('of a pod that is deleted without grace gets a second', async () => {
    await using world = await createWorld({ onExec: () => 'hang' })
    await using agent = await startAgent(world, { sources: ['api'] })
    const pod = podWith({ preStop: command('bye') })
    agent.setPods([pod], 'api')
    await agent.settle()
    const metadata = { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 }
    agent.setPods([{ ...pod, metadata }], 'api')
    await agent.pass(1000)
    assert.deepEqual(stops(world), ['main runs bye', 'main stops in 2s'])
  })
})

describe('a shorter grace that is asked for while the pod ends', () => {
  const deleted = (pod: ReturnType<typeof createWantedPod>, deletionGracePeriodSeconds: number) => ({
    ...pod,
    metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds },
  })

  test('counts at once for the signal', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    await using agent = await startAgent(world, { sources: ['api'] })
    const pod = createWantedPod()
    agent.setPods([pod], 'api')
    await agent.settle()
    agent.setPods([deleted(pod, 600)], 'api')
    await agent.pass(10_000, 1000)
    agent.setPods([deleted(pod, 3)], 'api')
    await agent.pass(2500)
    assert.deepEqual(running(world), ['main'])
    await agent.pass(500)
    assert.deepEqual([running(world), stops(world)], [[], ['main stops in 600s', 'main stops in 3s']])
    assert.equal(agent.statusOf('u-1')?.phase, 'Failed')
  })

  test('counts at once for the hook, which does not run again', async () => {
    await using world = await createWorld({ onExec: () => 'hang' })
    await using agent = await startAgent(world, { sources: ['api'] })
    const pod = podWith({ preStop: command('forever') })
    agent.setPods([pod], 'api')
    await agent.settle()
    agent.setPods([deleted(pod, 600)], 'api')
    await agent.pass(10_000, 1000)
    agent.setPods([deleted(pod, 3)], 'api')
    await agent.pass(3000)
    assert.deepEqual([running(world), stops(world)], [[], ['main runs forever', 'main stops in 2s']])
  })

  test('counts at once for a container that was being stopped before the pod was deleted', async () => {
    await using world = await createWorld({ onExec: () => ({ exitCode: 1 }) })
    await using agent = await startAgent(world, { sources: ['api'] })
    const lifecycle = { postStart: command('fails'), preStop: { sleep: { seconds: 500 } } }
    const containers = [createWantedContainer({ lifecycle })]
    const pod = createWantedPod('u-1', { containers, terminationGracePeriodSeconds: 600 })
    agent.setPods([pod], 'api')
    await agent.pass(10_000, 1000)
    assert.deepEqual(running(world), ['main'])
    agent.setPods([deleted(pod, 3)], 'api')
    await agent.pass(3000)
    assert.deepEqual([running(world), stops(world)], [[], ['main runs fails', 'main stops in 2s']])
    assert.equal(world.cri.requests('createContainer').length, 1)
  })

  test('a longer one changes nothing', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    await using agent = await startAgent(world, { sources: ['api'] })
    const pod = createWantedPod()
    agent.setPods([pod], 'api')
    await agent.settle()
    agent.setPods([deleted(pod, 5)], 'api')
    await agent.settle()
    agent.setPods([deleted(pod, 600)], 'api')
    await agent.pass(5000)
    assert.deepEqual([running(world), stops(world)], [[], ['main stops in 5s']])
  })
})

test('a pod that is deleted already when it is first seen is only ended, with its hook', async () => {
  await using world = await createWorld()
  const pod = podWith({ preStop: command('bye') })
  {
    await using first = await startAgent(world, { sources: ['api'] })
    first.setPods([pod], 'api')
    await first.settle()
  }
  const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 9 }
  const pods = [pod, createWantedPod('u-2')].map((each) => ({ ...each, metadata: { ...each.metadata, ...deletion } }))
  await using agent = await startAgent(world, { sources: ['api'] })
  agent.setPods(pods, 'api')
  await agent.settle()
  assert.deepEqual(stops(world), ['main runs bye', 'main stops in 9s'])
  assert.equal(world.cri.requests('runPodSandbox').length, 1)
  assert.deepEqual(
    ['u-1', 'u-2'].map((uid) => agent.statusOf(uid)?.phase),
    ['Succeeded', 'Failed'],
  )
})

test('the log is the termination message of a container that failed without one', async () => {
  await using world = await createWorld()
  await using agent = await startAgent(world)
  const containers = [createWantedContainer({ terminationMessagePolicy: 'FallbackToLogsOnError' })]
  agent.setPods([createWantedPod('u-1', { containers, restartPolicy: 'Never' })])
  await agent.settle()
  const { logPath } = world.cri.runtime.get(instanceOf(world))
  const at = '2026-01-01T00:00:00Z'
  world.files.files.set(logPath, `${at} stdout F working\n${at} stderr F no `.concat(`space\n`))
  world.cri.exitContainer(instanceOf(world), 3)
  await agent.settle()
  const { terminated } = agent.statusOf('u-1')?.containerStatuses?.[0]?.state ?? {}
  assert.deepEqual([terminated?.exitCode, terminated?.message], [3, 'working\nno space\n'])
})

describe('a finished pod', () => {
  const job = createWantedPod('u-1', { restartPolicy: 'Never' })

  /** Runs the pod to its end, lets the agent die, and takes everything of it out of the runtime. */
  async function finish(world: World, exitCode: number) {
    const agent = await startAgent(world)
    agent.setPods([job])
    await agent.settle()
    world.cri.exitContainer(instanceOf(world), exitCode)
    await agent.settle()
    await agent.die()
    for (const id of world.cri.runtime.sandboxes.keys()) world.cri.runtime.removeSandbox(id)
  }

  for (const [exitCode, phase] of [
    [0, 'Succeeded'],
    [7, 'Failed'],
  ] as const) {
    test(`stays ${phase} after a restart although the runtime has lost it`, async () => {
      await using world = await createWorld()
      await finish(world, exitCode)
      await using agent = await startAgent(world)
      agent.setPods([job])
      await agent.pass(70_000, 5000)
      const status = agent.statusOf('u-1')
      assert.deepEqual([status?.phase, status?.containerStatuses?.[0]?.state?.terminated?.exitCode], [phase, exitCode])
      assert.deepEqual(changes(world).filter((change) => change.startsWith('run')).length, 1)
      assert.deepEqual(running(world), [])
      agent.setPods([])
      await agent.pass(6000)
      assert.deepEqual([agent.workers.size, world.journalFiles.files.size], [0, 0])
    })
  }

  test('runs again when its manifest was removed and comes back', async () => {
    await using world = await createWorld()
    await finish(world, 0)
    await using agent = await startAgent(world)
    agent.setPods([job])
    await agent.settle()
    agent.setPods([])
    agent.setPods([job])
    await agent.pass(6000)
    assert.deepEqual(running(world), ['main'])
  })

  test('stays finished when it ran too long and the agent died before all of it had stopped', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const late = createWantedPod('u-1', { activeDeadlineSeconds: 5 })
    const first = await startAgent(world)
    first.setPods([late])
    await first.pass(6000)
    assert.equal(world.journalFiles.files.size, 1)
    await first.die()
    for (const id of world.cri.runtime.sandboxes.keys()) world.cri.runtime.removeSandbox(id)
    await using agent = await startAgent(world)
    agent.setPods([late])
    await agent.pass(5000)
    const { phase, reason } = agent.statusOf('u-1') ?? {}
    assert.deepEqual([phase, reason, running(world)], ['Failed', 'DeadlineExceeded', []])
    assert.equal(world.cri.requests('runPodSandbox').length, 1)
  })

  test('is found out again from the runtime when its note is broken', async () => {
    await using world = await createWorld()
    const first = await startAgent(world)
    first.setPods([job])
    await first.settle()
    world.cri.exitContainer(instanceOf(world), 0)
    await first.settle()
    await first.die()
    world.journalFiles.files.set('u-1.json', '{')
    await using agent = await startAgent(world)
    agent.setPods([job])
    await agent.settle()
    assert.equal(agent.statusOf('u-1')?.phase, 'Succeeded')
    assert.deepEqual([...world.journalFiles.files.keys()].sort(), ['u-1.json', 'u-1.json.broken'])
    assert.equal(agent.lines.filter(({ level }) => level === 'error').length, 1)
  })
})
