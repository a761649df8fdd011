import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '../../src/model/pod/pod.ts'
import type { PodSpec } from '../../src/model/generated/core-v1.ts'
import { startAgent } from './create-agent.ts'
import type { Agent, World } from './create-agent.ts'
import { createCluster, joinCluster } from './create-cluster.ts'
import type { Cluster } from './create-cluster.ts'
import { changes, createWantedContainer, createWantedPod, createWorld, instanceOf, running } from './create-world.ts'

const rules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }]

function createGang(): Pod {
  return createWantedPod('u-1', {
    restartPolicy: 'Never',
    initContainers: [
      createWantedContainer({ name: 'proxy', restartPolicy: 'Always' }),
      createWantedContainer({ name: 'prepare' }),
    ],
    containers: [
      createWantedContainer({ name: 'leader', restartPolicy: 'Never', restartPolicyRules: rules }),
      createWantedContainer({ name: 'peer', lifecycle: { preStop: { exec: { command: ['bye'] } } } }),
    ],
  })
}

const createGangWorld = () =>
  createWorld({ programOf: ({ metadata }) => (metadata?.name === 'prepare' ? { exitsAfterMs: 100, exitCode: 0 } : {}) })

const conditionOf = (agent: Agent) => {
  const found = agent.statusOf('u-1')?.conditions?.find(({ type }) => type === 'AllContainersRestarting')
  return `${found?.status} ${found?.reason ?? ''}`.trim()
}

async function isUp(world: World, agent: Agent): Promise<void> {
  await agent.pass(1000)
  assert.deepEqual(running(world), ['leader', 'peer', 'proxy'])
}

describe('a container whose end restarts all', () => {
  test('makes all of them start again in the same sandbox, from the first init container on, without hooks', async () => {
    await using world = await createGangWorld()
    await using agent = await startAgent(world)
    agent.setPods([createGang()])
    await isUp(world, agent)
    assert.equal(conditionOf(agent), 'False')
    for (const name of ['leader', 'peer', 'proxy', 'prepare'])
      world.files.files.set(`/var/log/pods/shop_pod-u-1_u-1/${name}/0.log`, 'said')
    const before = changes(world).length
    world.cri.exitContainer(instanceOf(world, 'leader'), 42)
    await isUp(world, agent)

    assert.deepEqual(
      changes(world)
        .slice(before)
        .map((change) => change.replace(/ gone/, '')),
      [
        'stopContainer 2s',
        'removeContainer',
        'stopContainer 2s',
        'removeContainer',
        'removeContainer',
        'removeContainer',
        'createContainer proxy',
        'startContainer proxy',
        'createContainer prepare',
        'startContainer prepare',
        'createContainer leader',
        'startContainer leader',
        'createContainer peer',
        'startContainer peer',
      ],
    )
    assert.equal(world.cri.requests('execSync').length, 0)
    assert.equal(world.cri.runtime.sandboxes.size, 1)
    assert.equal(conditionOf(agent), 'False')
    const status = agent.statusOf('u-1')
    assert.equal(status?.phase, 'Running')
    const reported = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
    assert.deepEqual(
      reported.map(({ name, restartCount, lastState }) => [name, restartCount, lastState?.terminated?.reason]),
      ['proxy', 'prepare', 'leader', 'peer'].map((name) => [name, 1, 'RestartingAllContainers']),
    )
    assert.equal(world.files.files.get('/var/log/pods/shop_pod-u-1_u-1/peer/0.log'), 'said', 'logs stay')
  })

  test('is reported while it is done, and goes on although a call fails in between', async () => {
    await using world = await createGangWorld()
    await using agent = await startAgent(world)
    agent.setPods([createGang()])
    await isUp(world, agent)
    world.cri.script.fail('removeContainer', 'Unknown', 'busy')
    world.cri.exitContainer(instanceOf(world, 'leader'), 42)
    await agent.pass(3000)
    assert.equal(conditionOf(agent), 'True RestartAllContainersStarted')
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
    world.cri.script.heal('removeContainer')
    await agent.pass(15_000)
    assert.deepEqual(running(world), ['leader', 'peer', 'proxy'])
    assert.equal(conditionOf(agent), 'False')
  })

  test('goes on after the agent was killed in between', async () => {
    await using world = await createGangWorld()
    const first = await startAgent(world)
    first.setPods([createGang()])
    await isUp(world, first)
    const release = world.cri.script.hold('removeContainer')
    world.cri.exitContainer(instanceOf(world, 'leader'), 42)
    await first.settle()
    await first.die()
    release()
    await using second = await startAgent(world)
    second.setPods([createGang()])
    await isUp(world, second)
    assert.equal(conditionOf(second), 'False')
  })

  test('makes all wait when it happens again and again', async () => {
    let starts = 0
    await using world = await createWorld({
      programOf: ({ metadata }) => (metadata?.name === 'leader' ? (starts++, { exitsAfterMs: 500, exitCode: 42 }) : {}),
    })
    await using agent = await startAgent(world)
    const { spec } = createGang()
    agent.setPods([createWantedPod('u-1', { ...spec, initContainers: [] })])
    await agent.pass(9000)
    assert.equal(starts, 2)
    assert.deepEqual(running(world), ['peer'])
    const leader = agent.statusOf('u-1')?.containerStatuses?.find(({ name }) => name === 'leader')
    assert.equal(leader?.state?.waiting?.reason, 'CrashLoopBackOff')
    await agent.pass(4000)
    assert.equal(starts, 3)
  })

  test('ends with its pod', async () => {
    await using world = await createGangWorld()
    await using agent = await startAgent(world)
    agent.setPods([createGang()])
    await isUp(world, agent)
    const release = world.cri.script.hold('stopContainer')
    world.cri.exitContainer(instanceOf(world, 'leader'), 42)
    await agent.settle()
    agent.setPods([])
    release()
    await agent.pass(40_000)
    assert.deepEqual([running(world), world.cri.runtime.sandboxes.size], [[], 0])
  })
})

/** As the API would take it. */
const apiGang = (): Partial<PodSpec> => {
  const { restartPolicy, initContainers = [], containers } = createGang().spec
  return { restartPolicy, initContainers, containers }
}

describe('what the API knows of containers that all restart', () => {
  const reported = async (cluster: Cluster) => {
    const { status } = (await cluster.get('gang')) ?? {}
    const condition = status?.conditions?.find(({ type }) => type === 'AllContainersRestarting')
    const counts = status?.containerStatuses?.map(({ name, restartCount, state }) =>
      [name, restartCount, ...Object.keys(state ?? {})].join(' '),
    )
    return { phase: status?.phase, condition: `${condition?.status} ${condition?.message ?? ''}`.trim(), counts }
  }
  const BACK = { phase: 'Running', condition: 'False', counts: ['leader 1 running', 'peer 1 running'] }

  test('that they are about to go, before the first is gone', async (t) => {
    await using world = await createGangWorld()
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await cluster.create('gang', apiGang())
    await agent.pass(1000)
    const release = world.cri.script.hold('stopContainer')
    world.cri.exitContainer(instanceOf(world, 'leader'), 42)
    await agent.settle()
    assert.deepEqual(await reported(cluster), {
      phase: 'Running',
      condition: 'True container exited with restart policy rule',
      counts: ['leader 0 terminated', 'peer 0 running'],
    })
    release()
    await agent.pass(1000)
    assert.deepEqual(await reported(cluster), BACK)
  })

  const deaths = (['stopContainer', 'removeContainer', 'createContainer', 'startContainer'] as const).flatMap(
    (call) => [
      { call, isAway: false, when: `in ${call}` },
      { call, isAway: true, when: `in ${call} while the API is away` },
    ],
  )
  for (const { call, isAway, when } of deaths)
    test(`that they run again, when the agent is killed ${when}`, async (t) => {
      await using world = await createGangWorld()
      const cluster = await createCluster(t, world)
      const first = await joinCluster(world, cluster)
      first.setPods([])
      await cluster.create('gang', apiGang())
      await first.pass(1000)
      const release = world.cri.script.hold(call)
      if (isAway) cluster.client.goAway()
      world.cri.exitContainer(instanceOf(world, 'leader'), 42)
      await first.settle()
      await first.die()
      release()
      if (isAway) cluster.client.comeBack()
      // Other chances than those of the first: files that it made are still there.
      let drawn = 2 ** 16
      await using second = await joinCluster(world, cluster, { random: () => (drawn += 1) / 2 ** 32 })
      second.setPods([])
      await second.pass(3000)
      assert.deepEqual(await reported(cluster), BACK)
    })
})
