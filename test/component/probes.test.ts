import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Probe } from '../../src/model/generated/core-v1.ts'
import type { ExecResult } from '../../src/simulation/runtime/runtime-handlers.ts'
import { startAgent } from './create-agent.ts'
import type { Agent } from './create-agent.ts'
import { changes, createWantedContainer, createWantedPod, createWorld, instanceOf, running } from './create-world.ts'

function probe(command: string, parts: Partial<Probe> = {}): Probe {
  const timing = { periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 }
  return { exec: { command: [command] }, ...timing, ...parts }
}

/** A machine whose containers answer each command as the test says at that moment; with success by default. */
async function createProbedWorld(): Promise<
  Awaited<ReturnType<typeof createWorld>> & { readonly answers: Map<string, ExecResult> }
> {
  const answers = new Map<string, ExecResult>()
  const world = await createWorld({ onExec: (_, [command = '']) => answers.get(command) ?? {} })
  return { ...world, answers }
}

function conditionOf(agent: Agent, type: string): string | undefined {
  return agent.statusOf('u-1')?.conditions?.find((condition) => condition.type === type)?.status
}

function mainOf(agent: Agent) {
  return agent.statusOf('u-1')?.containerStatuses?.[0]
}

/** Probes begin in the middle of their period: away from the moment in which everything starts here. */
const MID_PERIOD = { random: () => 0.5 }

const bad: ExecResult = { exitCode: 1, stdout: 'no\n' }

describe('the initial delay of a probe', () => {
  const isEarly = { exitCode: 1, stdout: 'starting' }
  const main = createWantedContainer({
    startupProbe: probe('up', { periodSeconds: 1, failureThreshold: 60 }),
    livenessProbe: probe('live', { periodSeconds: 1, initialDelaySeconds: 20 }),
  })

  /** A machine whose containers are up after ten seconds, and when each of them was first asked whether it lives. */
  async function createSlowWorld(runtimeAheadMs: number) {
    const asked: number[] = []
    const world = await createWorld({
      runtimeAheadMs,
      onExec: (_, [command]) => {
        const ranMs = world.clock.monotonic() - startedAt
        if (command === 'live') asked.push(ranMs)
        return command === 'up' && ranMs < 10_000 ? isEarly : {}
      },
    })
    const startedAt = world.clock.monotonic()
    return { ...world, asked }
  }

  for (const [how, runtimeAheadMs] of [
    ['ahead of', 3_600_000],
    ['behind', -3_600_000],
    ['the same as', 0],
  ] as const)
    test(`begins with the container, when the clock of the runtime is ${how} ours`, async () => {
      await using world = await createSlowWorld(runtimeAheadMs)
      await using agent = await startAgent(world)
      agent.setPods([createWantedPod('u-1', { containers: [main] })])
      await agent.pass(40_000, 500)
      const [first = 0] = world.asked
      assert.ok(first >= 20_000 && first < 23_000, `first asked after ${first} ms`)
    })

  test('goes on with the next agent', async () => {
    await using world = await createSlowWorld(0)
    const first = await startAgent(world)
    first.setPods([createWantedPod('u-1', { containers: [main] })])
    await first.pass(12_000, 500)
    await first.die()
    await using second = await startAgent(world)
    second.setPods([createWantedPod('u-1', { containers: [main] })])
    await second.pass(20_000, 500)
    const [asked = 0] = world.asked
    assert.ok(asked >= 20_000 && asked < 23_000, `first asked after ${asked} ms`)
  })
})

describe('a liveness probe that fails', () => {
  test('restarts its container after three failures, with its own grace', async () => {
    await using world = await createProbedWorld()
    world.answers.set('live', bad)
    await using agent = await startAgent(world, MID_PERIOD)
    const livenessProbe = probe('live', { terminationGracePeriodSeconds: 7 })
    agent.setPods([createWantedPod('u-1', { containers: [createWantedContainer({ livenessProbe })] })])
    await agent.pass(19_000)
    assert.deepEqual(world.cri.requests('stopContainer'), [])
    await agent.pass(11_000)
    assert.deepEqual(
      world.cri.requests('stopContainer').map(({ timeout }) => timeout),
      [7n],
    )
    assert.deepEqual([mainOf(agent)?.restartCount, running(world)], [1, ['main']])
    assert.deepEqual(
      agent.events.filter(({ type }) => type === 'Warning').map(({ reason, message }) => `${reason} ${message}`),
      Array.from({ length: 3 }, () => 'Unhealthy Liveness probe failed: no\n'),
    )
    assert.ok(agent.events.some(({ message }) => message === 'Container main failed liveness probe, will be restarted'))
    const why = agent.registry.explain()[0]?.why ?? ''
    assert.match(
      why,
      /^Runs again: container "main" restarted 1 time, last exited with .*because it failed liveness probe/,
    )
    assert.equal(conditionOf(agent, 'Ready'), 'True')
  })

  test('ends a container that is never restarted', async () => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 143 }), onExec: () => bad })
    await using agent = await startAgent(world)
    const main = createWantedContainer({ livenessProbe: probe('live', { periodSeconds: 1 }) })
    const peer = createWantedContainer({ name: 'peer' })
    const last = createWantedContainer({ livenessProbe: probe('live', { periodSeconds: 1 }) })
    agent.setPods([
      createWantedPod('u-1', { restartPolicy: 'Never', containers: [main, peer] }),
      createWantedPod('u-2', { restartPolicy: 'Never', containers: [last] }),
    ])
    await agent.pass(10_000)
    const killed = agent.events.find(({ uid, reason }) => uid === 'u-1' && reason === 'Killing')
    assert.equal(killed?.message, 'Container main failed liveness probe')
    assert.deepEqual([running(world), world.cri.requests('startContainer').length], [['peer'], 3])
    assert.deepEqual([agent.statusOf('u-1')?.phase, agent.statusOf('u-2')?.phase], ['Running', 'Failed'])
  })

  test('by taking too long says so', async () => {
    await using world = await createProbedWorld()
    world.answers.set('live', 'hang')
    await using agent = await startAgent(world, MID_PERIOD)
    const livenessProbe = probe('live', { failureThreshold: 1, periodSeconds: 5 })
    agent.setPods([createWantedPod('u-1', { containers: [createWantedContainer({ livenessProbe })] })])
    await agent.pass(8000)
    assert.equal(
      agent.events.find(({ reason }) => reason === 'Unhealthy')?.message,
      'Liveness probe failed: command timed out: "live" timed out after 1s',
    )
    assert.equal(mainOf(agent)?.restartCount, 1)
  })

  test('because the runtime is broken changes nothing', async () => {
    await using world = await createProbedWorld()
    await using agent = await startAgent(world)
    world.cri.script.fail('execSync', 'Unavailable', 'planned')
    const livenessProbe = probe('live', { failureThreshold: 1, periodSeconds: 1 })
    agent.setPods([createWantedPod('u-1', { containers: [createWantedContainer({ livenessProbe })] })])
    await agent.pass(5000)
    assert.equal(mainOf(agent)?.restartCount, 0)
    const { message } = agent.events.find(({ reason }) => reason === 'Unhealthy') ?? {}
    assert.equal(
      message,
      'Liveness probe errored and resulted in unknown state: rpc error: code = Unavailable desc = planned',
    )
    assert.ok(world.cri.requests('execSync').length % 3 === 0)
    assert.deepEqual(new Set(agent.probeRuns.map(({ result }) => result)), new Set(['unknown']))
  })
})

describe('a readiness probe', () => {
  test('makes its pod ready and not ready, and restarts nothing', async () => {
    await using world = await createProbedWorld()
    world.answers.set('ready', bad)
    await using agent = await startAgent(world)
    const readinessProbe = probe('ready', { periodSeconds: 5, failureThreshold: 2 })
    agent.setPods([createWantedPod('u-1', { containers: [createWantedContainer({ readinessProbe })] })])
    await agent.pass(20_000)
    assert.deepEqual([mainOf(agent)?.ready, mainOf(agent)?.started], [false, true])
    assert.deepEqual([conditionOf(agent, 'Ready'), conditionOf(agent, 'ContainersReady')], ['False', 'False'])
    const asked = world.cri.requests('execSync').length
    assert.ok(asked <= 6, `asked ${asked} times in 20 s`)
    const probeSteps = () =>
      (agent.registry.explain()[0]?.steps ?? []).flatMap(({ name, error }) =>
        name.includes('probe') ? [`${name}: ${error ?? 'well'}`] : [],
      )
    assert.match(
      agent.registry.explain()[0]?.why ?? '',
      /^Running, not ready: readiness probe of container "main" fails: no$/,
    )
    assert.deepEqual(probeSteps(), ['readiness probe of container "main": no'])
    world.answers.delete('ready')
    await agent.pass(5000)
    assert.deepEqual([conditionOf(agent, 'Ready'), mainOf(agent)?.ready], ['True', true])
    assert.deepEqual(probeSteps().slice(1), ['readiness probe of container "main": well'])
    world.answers.set('ready', bad)
    await agent.pass(5000)
    assert.equal(conditionOf(agent, 'Ready'), 'True', 'one failure of two')
    await agent.pass(5000)
    assert.equal(conditionOf(agent, 'Ready'), 'False')
    assert.deepEqual([world.cri.requests('stopContainer'), mainOf(agent)?.restartCount], [[], 0])
  })

  test('is asked at once when the container runs, not at the next tick', async () => {
    await using world = await createProbedWorld()
    await using agent = await startAgent(world)
    const readinessProbe = probe('ready', { periodSeconds: 60 })
    agent.setPods([createWantedPod('u-1', { containers: [createWantedContainer({ readinessProbe })] })])
    await agent.settle()
    assert.equal(conditionOf(agent, 'Ready'), 'True')
  })

  test('goes on while its pod is stopped, and is reported at once; the others do not', async () => {
    await using world = await createWorld({
      programOf: () => ({ onTerm: 'ignore' }),
      onExec: (_, [command]) => (command === 'ready' && isDown ? bad : {}),
    })
    let isDown = false
    await using agent = await startAgent(world)
    const parts = {
      readinessProbe: probe('ready', { periodSeconds: 1, failureThreshold: 1 }),
      livenessProbe: probe('live', { periodSeconds: 1 }),
    }
    const pod = createWantedPod('u-1', { containers: [createWantedContainer(parts)] })
    agent.setPods([pod])
    await agent.pass(3000)
    const asked = (command: string) => world.cri.requests('execSync').filter(({ cmd }) => cmd[0] === command).length
    agent.workers.handle({
      operation: 'DELETE',
      pods: [{ ...pod, metadata: { ...pod.metadata, deletionTimestamp: 'now', deletionGracePeriodSeconds: 20 } }],
    })
    await agent.settle()
    const [live, ready] = [asked('live'), asked('ready')]
    isDown = true
    await agent.pass(5000)
    assert.equal(asked('live'), live)
    assert.ok(asked('ready') >= ready + 4)
    assert.equal(mainOf(agent)?.ready, false)
    await agent.pass(16_000)
    const after = asked('ready')
    await agent.pass(5000)
    assert.equal(asked('ready'), after)
  })
})

describe('a startup probe', () => {
  test('holds back the others until it succeeds', async () => {
    await using world = await createProbedWorld()
    world.answers.set('start', bad)
    await using agent = await startAgent(world)
    const container = createWantedContainer({
      startupProbe: probe('start', { periodSeconds: 1, failureThreshold: 30 }),
      readinessProbe: probe('ready'),
      livenessProbe: probe('live', { periodSeconds: 1 }),
    })
    agent.setPods([createWantedPod('u-1', { containers: [container] })])
    await agent.pass(10_000)
    assert.deepEqual([mainOf(agent)?.started, mainOf(agent)?.ready], [false, false])
    assert.deepEqual(new Set(world.cri.requests('execSync').map(({ cmd }) => cmd[0])), new Set(['start']))
    world.answers.delete('start')
    await agent.pass(1000)
    assert.deepEqual([mainOf(agent)?.started, mainOf(agent)?.ready], [true, true])
    const asked = () => world.cri.requests('execSync').filter(({ cmd }) => cmd[0] === 'start').length
    const before = asked()
    await agent.pass(5000)
    assert.equal(asked(), before, 'all is said')
    world.cri.exitContainer(instanceOf(world), 1)
    world.answers.set('start', bad)
    await agent.pass(1000)
    assert.deepEqual([mainOf(agent)?.started, mainOf(agent)?.restartCount], [false, 1], 'begins again')
  })

  test('that never succeeds restarts its container with its own grace', async () => {
    await using world = await createProbedWorld()
    world.answers.set('start', bad)
    await using agent = await startAgent(world)
    const startupProbe = probe('start', { periodSeconds: 2, terminationGracePeriodSeconds: 90 })
    agent.setPods([createWantedPod('u-1', { containers: [createWantedContainer({ startupProbe })] })])
    await agent.pass(7000)
    assert.deepEqual(
      world.cri.requests('stopContainer').map(({ timeout }) => timeout),
      [90n],
    )
    assert.ok(agent.events.some(({ message }) => message === 'Container main failed startup probe, will be restarted'))
    assert.deepEqual([mainOf(agent)?.restartCount, mainOf(agent)?.started], [1, false])
  })

  test('of a sidecar gates the next init container; its liveness restarts only it', async () => {
    await using world = await createProbedWorld()
    world.answers.set('start', bad)
    await using agent = await startAgent(world)
    const sidecar = createWantedContainer({
      name: 'proxy',
      restartPolicy: 'Always',
      startupProbe: probe('start', { periodSeconds: 1, failureThreshold: 100 }),
      livenessProbe: probe('live', { periodSeconds: 1 }),
      readinessProbe: probe('ready', { periodSeconds: 1, failureThreshold: 1 }),
    })
    agent.setPods([createWantedPod('u-1', { initContainers: [sidecar] })])
    await agent.pass(5000)
    assert.deepEqual(running(world), ['proxy'])
    assert.equal(conditionOf(agent, 'Initialized'), 'False')
    world.answers.delete('start')
    await agent.pass(2000)
    assert.deepEqual(running(world), ['main', 'proxy'])
    assert.deepEqual([conditionOf(agent, 'Initialized'), conditionOf(agent, 'Ready')], ['True', 'True'])
    world.answers.set('ready', bad)
    await agent.pass(2000)
    assert.equal(conditionOf(agent, 'Ready'), 'False', 'readiness of a sidecar counts')
    world.answers.delete('ready')
    world.answers.set('live', bad)
    await agent.pass(4000)
    world.answers.delete('live')
    await agent.pass(2000)
    assert.deepEqual(
      [agent.statusOf('u-1')?.initContainerStatuses?.[0]?.restartCount, mainOf(agent)?.restartCount],
      [1, 0],
    )
    assert.deepEqual(
      changes(world).filter((change) => change.startsWith('stopContainer')),
      ['stopContainer proxy 30s'],
    )
    assert.equal(conditionOf(agent, 'Ready'), 'True')
  })
})

describe('a restart of the agent', () => {
  const container = createWantedContainer({
    startupProbe: probe('start', { periodSeconds: 1 }),
    readinessProbe: probe('ready', { periodSeconds: 2, failureThreshold: 3 }),
  })
  const pod = createWantedPod('u-1', { containers: [container] })

  test('keeps what was started and ready, until the probes have said otherwise often enough', async () => {
    await using world = await createProbedWorld()
    {
      await using first = await startAgent(world)
      first.setPods([pod])
      await first.pass(3000)
      assert.equal(conditionOf(first, 'Ready'), 'True')
    }
    world.answers.set('ready', bad)
    world.answers.set('start', bad)
    await using agent = await startAgent(world)
    agent.setPods([pod])
    await agent.pass(3000)
    assert.deepEqual([mainOf(agent)?.started, mainOf(agent)?.ready], [true, true])
    await agent.pass(4000)
    assert.deepEqual([mainOf(agent)?.started, mainOf(agent)?.ready, mainOf(agent)?.restartCount], [true, false, 0])
  })

  test('makes nothing ready that was not', async () => {
    await using world = await createProbedWorld()
    world.answers.set('ready', bad)
    {
      await using first = await startAgent(world)
      first.setPods([pod])
      await first.pass(30_000)
    }
    await using agent = await startAgent(world)
    agent.setPods([pod])
    await agent.pass(30_000)
    assert.deepEqual([mainOf(agent)?.started, mainOf(agent)?.ready], [true, false])
  })

  test('survives a note that cannot be read', async () => {
    await using world = await createProbedWorld()
    {
      await using first = await startAgent(world)
      first.setPods([pod])
      await first.pass(3000)
    }
    const path = world.files.files.keys().find((name) => name.endsWith('probes.json')) ?? ''
    world.files.files.set(path, '{"version":1,"conta')
    await using agent = await startAgent(world)
    agent.setPods([pod])
    await agent.pass(3000)
    assert.equal(mainOf(agent)?.ready, true)
    assert.equal(world.files.files.get(`${path}.corrupt`), '{"version":1,"conta')
  })
})

test('probes leave nothing behind', async () => {
  await using world = await createProbedWorld()
  world.answers.set('hangs', 'hang')
  await using agent = await startAgent(world)
  agent.setPods([])
  await agent.pass(1000)
  const before = world.clock.sleeping
  const hanging = probe('hangs', { periodSeconds: 1, timeoutSeconds: 600 })
  const all = { startupProbe: probe('a'), readinessProbe: hanging, livenessProbe: hanging }
  agent.setPods([
    createWantedPod('u-1', { containers: [createWantedContainer(all)] }),
    createWantedPod('u-2', { containers: [createWantedContainer({ startupProbe: hanging })] }),
  ])
  await agent.pass(10_000)
  assert.ok(world.clock.sleeping > before)
  agent.setPods([])
  await agent.pass(40_000, 1000)
  assert.deepEqual([agent.workers.size, world.clock.sleeping], [0, before])
  assert.deepEqual([...world.files.files.keys()], [])
})
