import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Container, PodCondition, ResourceRequirements } from '../../src/model/generated/core-v1.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { parseAllocations } from '../../src/pods/allocations/allocation-state-file.ts'
import { FakeCpuNode } from '../fakes/fake-cpu-node.ts'
import { staticCpus } from './static-cpus.ts'
import { startAgent, until } from './create-agent.ts'
import type { Agent, AgentOptions, World } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld, instanceOf } from './create-world.ts'

const sized = (milli: number, mebi: number): ResourceRequirements => ({
  requests: { cpu: `${milli}m`, memory: `${mebi}Mi` },
  limits: { cpu: `${milli}m`, memory: `${mebi}Mi` },
})
const small = sized(100, 64)
const large = sized(200, 128)
const MI = 1024n ** 2n
// Pods of the node itself are critical: others would have to leave for them.
const API = { sources: ['api'] }

interface Desired {
  readonly uid?: string
  readonly generation?: number
  readonly container?: Partial<Container>
  readonly ofPod?: ResourceRequirements
  readonly conditions?: readonly PodCondition[]
}

function createSized(resources: ResourceRequirements, desired: Desired = {}): Pod {
  const { uid = 'u-1', generation = 1, container = {}, ofPod, conditions } = desired
  const pod = createWantedPod(uid, {
    containers: [createWantedContainer({ resources, ...container })],
    ...(ofPod && { resources: ofPod }),
  })
  return { ...pod, metadata: { ...pod.metadata, generation }, ...(conditions && { status: { conditions } }) }
}

const conditionsOf = (agent: Agent, uid = 'u-1') =>
  (agent.statusOf(uid)?.conditions ?? []).filter(({ type }) => type.startsWith('PodResize'))
const describeConditions = (agent: Agent, uid = 'u-1') =>
  conditionsOf(agent, uid).map(
    ({ type, reason = '-', observedGeneration }) => `${type} ${reason} ${observedGeneration}`,
  )

function reported(agent: Agent, uid = 'u-1') {
  const { containerStatuses, allocatedResources, resources } = agent.statusOf(uid) ?? {}
  const [main] = containerStatuses ?? []
  return {
    granted: main?.allocatedResources?.['memory'],
    has: main?.resources?.limits?.['memory'],
    pod: [allocatedResources?.['memory'], resources?.requests?.['memory']],
    restarts: main?.restartCount,
    conditions: describeConditions(agent, uid),
  }
}

const reportedOf = (memory: string) => ({
  granted: memory,
  has: memory,
  pod: [memory, memory],
  restarts: 0,
  conditions: [],
})
const updates = ({ cri }: World) => cri.called.filter(({ method }) => method === 'updateContainerResources').length
const resized = (agent: Agent, uid = 'u-1') => agent.reasons(uid).filter((reason) => reason.startsWith('Resize'))
const memoryOf = (world: World, id = instanceOf(world)) =>
  world.cri.runtime.containers.get(id)?.resources.memoryLimitInBytes

/** An agent with one pod that runs. */
async function startSmall(world: World, options: AgentOptions = {}, pod = createSized(small)): Promise<Agent> {
  const agent = await startAgent(world, { ...API, ...options })
  agent.setPods([pod], 'api')
  await agent.settle()
  return agent
}

describe('a pod that asks for other resources while it runs', () => {
  test('gets more and less of them, without a new start', async () => {
    await using world = await createWorld()
    await using agent = await startSmall(world)
    assert.deepEqual(reported(agent), reportedOf('64Mi'))
    const id = instanceOf(world)
    agent.setPods([createSized(large, { generation: 2 })], 'api')
    await agent.settle()
    assert.deepEqual(reported(agent), reportedOf('128Mi'))
    assert.deepEqual(resized(agent), ['ResizeStarted', 'ResizeCompleted'])
    assert.equal(memoryOf(world, id), 128n * MI)
    agent.setPods([createSized(small, { generation: 3 })], 'api')
    await agent.settle()
    assert.deepEqual(reported(agent), reportedOf('64Mi'))
    assert.equal(memoryOf(world, id), 64n * MI)
    assert.deepEqual(world.cgroups.written, [
      `memoryLimitBytes=${128n * MI}`,
      'cpuQuota=20000 cpuPeriod=100000',
      'cpuShares=204',
      `memoryLimitBytes=${64n * MI}`,
      'cpuShares=102',
      'cpuQuota=10000 cpuPeriod=100000',
    ])
    assert.equal(updates(world), 4)
    assert.equal(instanceOf(world), id)
    assert.deepEqual(
      agent.counted.filter((line) => line.startsWith('re')),
      [
        'requested memory requests increase',
        'requested memory limits increase',
        'requested cpu requests increase',
        'requested cpu limits increase',
        'resized true',
        'requested memory requests decrease',
        'requested memory limits decrease',
        'requested cpu requests decrease',
        'requested cpu limits decrease',
        'resized true',
      ],
    )
  })

  test('restarts where its policy says so', async () => {
    const container = { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] }
    await using world = await createWorld()
    await using agent = await startSmall(world, {}, createSized(small, { container }))
    agent.setPods([createSized(large, { generation: 2, container })], 'api')
    await agent.pass(1000)
    assert.deepEqual(reported(agent), { ...reportedOf('128Mi'), restarts: 1 })
    assert.equal(updates(world), 0)
    assert.equal(memoryOf(world), 128n * MI)
    assert.deepEqual(world.cgroups.states.get(createSized(small).metadata.uid)?.memoryLimitBytes, 128n * MI)
    const message = agent.events.find(({ reason }) => reason === 'Killing')?.message
    assert.equal(message, 'Container main resize requires restart')
  })

  test('waits while the node has no room, and goes on when another pod leaves', async () => {
    const allocatable = { pods: '10', cpu: '1', memory: '160Mi', 'ephemeral-storage': '1Gi' }
    await using world = await createWorld()
    await using agent = await startAgent(world, { ...API, allocatable })
    const other = createSized(small, { uid: 'u-2' })
    agent.setPods([createSized(small), other], 'api')
    await agent.settle()
    agent.setPods([createSized(large, { generation: 2 }), other], 'api')
    await agent.settle()
    assert.deepEqual(reported(agent), { ...reportedOf('64Mi'), conditions: ['PodResizePending Deferred 2'] })
    const [condition] = conditionsOf(agent)
    const why = `Node didn't have enough resource: memory, requested: ${128n * MI}, used: ${64n * MI}, capacity: ${160n * MI}`
    assert.equal(condition?.message, why)
    const event = agent.events.find(({ reason }) => reason === 'ResizeDeferred')
    assert.equal(
      event?.message,
      `Pod resize OutOfmemory: {"containers":[{"name":"main","resources":{"limits":{"cpu":"200m","memory":"128Mi"},` +
        `"requests":{"cpu":"200m","memory":"128Mi"}}}],"generation":2,"error":"${why}"}`,
    )
    await agent.pass(400_000, 20_000)
    assert.deepEqual(resized(agent), ['ResizeDeferred'], 'reported once')
    agent.setPods([createSized(large, { generation: 2 })], 'api')
    await agent.pass(31_000, 1000)
    assert.deepEqual(reported(agent), reportedOf('128Mi'))
    assert.deepEqual(resized(agent), ['ResizeDeferred', 'ResizeStarted', 'ResizeCompleted'])
    assert.ok(agent.counted.includes('accepted pods_removed'))
  })

  test('waits for another that shrinks', async () => {
    const allocatable = { pods: '10', cpu: '1', memory: '200Mi', 'ephemeral-storage': '1Gi' }
    await using world = await createWorld()
    await using agent = await startAgent(world, { ...API, allocatable })
    agent.setPods([createSized(small), createSized(large, { uid: 'u-2' })], 'api')
    await agent.settle()
    agent.setPods([createSized(large, { generation: 2 }), createSized(small, { uid: 'u-2', generation: 2 })], 'api')
    await agent.settle()
    assert.deepEqual([reported(agent), reported(agent, 'u-2')], [reportedOf('128Mi'), reportedOf('64Mi')])
  })

  test('is reported at once as infeasible when it can never be', async () => {
    await using world = await createWorld()
    await using agent = await startSmall(world, staticCpus(world, new FakeCpuNode()))
    agent.setPods([createSized(large, { generation: 2 })], 'api')
    await agent.settle()
    assert.deepEqual(reported(agent), { ...reportedOf('64Mi'), conditions: ['PodResizePending Infeasible 2'] })
    assert.deepEqual(resized(agent), ['ResizeInfeasible'])
    agent.setPods([createSized(small, { generation: 3 })], 'api')
    await agent.settle()
    assert.deepEqual(reported(agent), reportedOf('64Mi'), 'nothing is left of a resize that was taken back')
  })

  test('keeps its memory while it uses it, and is resized when it does not', async () => {
    await using world = await createWorld()
    await using agent = await startSmall(world, {}, createSized(large))
    const id = instanceOf(world)
    world.cgroups.memory.set(id, 100n * MI)
    agent.setPods([createSized(small, { generation: 2 })], 'api')
    await agent.pass(40_000, 1000)
    assert.deepEqual(reported(agent), {
      granted: '64Mi',
      has: '128Mi',
      pod: ['64Mi', '128Mi'],
      restarts: 0,
      conditions: ['PodResizeInProgress Error 2'],
    })
    const why = `cannot decrease memory limits: attempting to set container "main" memory limit (${64n * MI}) below current usage (${100n * MI})`
    assert.equal(conditionsOf(agent)[0]?.message, why)
    assert.deepEqual(resized(agent), ['ResizeStarted', 'ResizeError'])
    assert.deepEqual([updates(world), world.cgroups.written], [0, []])
    world.cgroups.memory.set(id, 1n * MI)
    await agent.pass(20_000, 1000)
    assert.deepEqual(reported(agent), reportedOf('64Mi'))
    assert.deepEqual(resized(agent), ['ResizeStarted', 'ResizeError', 'ResizeCompleted'])
  })

  test('shows the error of the kernel or the runtime', async () => {
    await using world = await createWorld()
    await using agent = await startSmall(world)
    world.cgroups.failure = new Error('Cannot change the cgroup of the pod: device or resource busy')
    agent.setPods([createSized(large, { generation: 2 })], 'api')
    await agent.settle()
    assert.deepEqual(describeConditions(agent), ['PodResizeInProgress Error 2'])
    assert.match(conditionsOf(agent)[0]?.message ?? '', /device or resource busy$/)
    const sizes = world.cri.called.filter(({ method }) => method === 'updatePodSandboxResources')
    assert.equal(sizes.length, 2, 'the runtime is notified that it failed')
    world.cgroups.failure = undefined
    await agent.pass(20_000, 1000)
    assert.deepEqual(reported(agent), reportedOf('128Mi'))
  })

  test('gets its new size with its next start when nothing of it runs', async () => {
    await using world = await createWorld()
    await using agent = await startSmall(world)
    world.cri.exitContainer(instanceOf(world), 1)
    await agent.settle()
    world.cri.exitContainer(instanceOf(world), 1)
    await agent.settle()
    agent.setPods([createSized(large, { generation: 2 })], 'api')
    await agent.settle()
    assert.deepEqual(reported(agent), { ...reportedOf('128Mi'), restarts: 2 }, 'another size is another try')
    assert.equal(memoryOf(world), 128n * MI)
    assert.equal(updates(world), 0)
    assert.deepEqual(world.cgroups.states.get(createSized(small).metadata.uid)?.memoryLimitBytes, 128n * MI)
  })

  test('is resized in its init containers too', async () => {
    const create = (resources: ResourceRequirements, generation: number): Pod => {
      const pod = createWantedPod('u-1', {
        initContainers: [
          createWantedContainer({ name: 'proxy', restartPolicy: 'Always', resources }),
          createWantedContainer({ name: 'prepare', resources }),
        ],
        containers: [createWantedContainer({ resources })],
      })
      return { ...pod, metadata: { ...pod.metadata, generation } }
    }
    await using world = await createWorld()
    await using agent = await startSmall(world, {}, create(small, 1))
    agent.setPods([create(large, 2)], 'api')
    await agent.settle()
    assert.deepEqual(describeConditions(agent), [])
    assert.deepEqual(
      ['proxy', 'prepare'].map((name) => memoryOf(world, instanceOf(world, name))),
      [128n * MI, 128n * MI],
    )
    world.cri.exitContainer(instanceOf(world, 'prepare'), 0)
    await agent.settle()
    assert.equal(memoryOf(world), 128n * MI)
    const { initContainerStatuses = [] } = agent.statusOf('u-1') ?? {}
    assert.deepEqual(
      initContainerStatuses.map(({ resources, restartCount }) => [resources?.limits?.['memory'], restartCount]),
      [
        ['128Mi', 0],
        ['128Mi', 0],
      ],
    )
  })

  test('is resized as a whole', async () => {
    await using world = await createWorld()
    await using agent = await startSmall(world, {}, createSized({}, { ofPod: small }))
    assert.equal(memoryOf(world), 64n * MI)
    agent.setPods([createSized({}, { generation: 2, ofPod: large })], 'api')
    await agent.settle()
    assert.deepEqual(describeConditions(agent), [])
    const { allocatedResources, resources } = agent.statusOf('u-1') ?? {}
    assert.deepEqual([allocatedResources, resources], [large.requests, large])
    assert.equal(memoryOf(world), 128n * MI, 'a container without a limit of its own has the one of the pod')
    assert.deepEqual(world.cgroups.states.get(createSized(small).metadata.uid)?.memoryLimitBytes, 128n * MI)
  })

  test('gets resources as a whole where it had none', async () => {
    await using world = await createWorld()
    await using agent = await startSmall(world, {}, createSized(small))
    const uid = createSized(small).metadata.uid
    assert.deepEqual(world.cgroups.states.get(uid)?.memoryLimitBytes, 64n * MI)
    agent.setPods([createSized(small, { generation: 2, ofPod: large })], 'api')
    await agent.settle()
    assert.deepEqual(describeConditions(agent), [])
    assert.deepEqual(world.cgroups.states.get(uid)?.memoryLimitBytes, 128n * MI)
    assert.deepEqual(agent.statusOf('u-1')?.resources, large)
    assert.equal(memoryOf(world), 64n * MI, 'the container keeps its own limit')
  })
})

/** Gives an agent a desired pod and kills it at its n-th call from now on; true when it was done by then. */
async function dieAtCall(
  world: World,
  agent: Agent,
  { call, desired }: { readonly call: number; readonly desired: Pod },
): Promise<boolean> {
  const killAt = world.cri.called.length + call
  agent.setPods([desired], 'api')
  let isDone = false
  const done = agent.pass(1000, 500).then(() => {
    isDone = true
  })
  await until(() => isDone || world.cri.called.length >= killAt, 'the moment of the kill')
  const wasDone = isDone
  await agent.die()
  await done
  return wasDone
}

describe('an agent that comes after another', () => {
  test('that was killed at any step of a resize completes it, without a new start', async () => {
    const desired = createSized(large, { generation: 2 })
    for (let [call, isOver] = [0, false]; !isOver; call += 1) {
      await using world = await createWorld()
      const first = await startSmall(world)
      const id = instanceOf(world)
      isOver = await dieAtCall(world, first, { call, desired })
      await using agent = await startAgent(world, API)
      agent.setPods([desired], 'api')
      await agent.pass(12_000, 1000)
      assert.deepEqual(reported(agent), reportedOf('128Mi'), `killed at call ${call}`)
      assert.equal(instanceOf(world), id)
      assert.equal(memoryOf(world), 128n * MI)
      assert.equal(world.cgroups.states.get(desired.metadata.uid)?.memoryLimitBytes, 128n * MI)
    }
  })

  test('that was killed at any step of a resize with a new start starts once', async () => {
    const container = { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] }
    const desired = createSized(large, { generation: 2, container })
    for (let [call, isOver] = [0, false]; !isOver; call += 1) {
      await using world = await createWorld()
      const first = await startSmall(world, {}, createSized(small, { container }))
      isOver = await dieAtCall(world, first, { call, desired })
      await using agent = await startAgent(world, API)
      agent.setPods([desired], 'api')
      await agent.pass(12_000, 1000)
      assert.deepEqual(reported(agent), { ...reportedOf('128Mi'), restarts: 1 }, `killed at call ${call}`)
      assert.equal(memoryOf(world), 128n * MI)
    }
  })

  test('keeps to what was granted, and knows what was reported about what is asked for', async () => {
    const allocatable = { pods: '10', cpu: '1', memory: '100Mi', 'ephemeral-storage': '1Gi' }
    await using world = await createWorld()
    const first = await startSmall(world, { allocatable })
    first.setPods([createSized(large, { generation: 2 })], 'api')
    await first.settle()
    const conditions = conditionsOf(first)
    await first.die()
    await using agent = await startAgent(world, { ...API, allocatable })
    agent.setPods([createSized(large, { generation: 2, conditions })], 'api')
    await agent.settle()
    assert.deepEqual(reported(agent), { ...reportedOf('64Mi'), conditions: ['PodResizePending Deferred 2'] })
    assert.deepEqual(resized(agent), [], 'what was reported is not reported again')
    assert.deepEqual(conditionsOf(agent), conditions)
  })

  test('that was killed before its grant was on disk says that a resize is complete when it is', async () => {
    await using world = await createWorld()
    const first = await startSmall(world)
    await first.die()
    const conditions = [{ type: 'PodResizeInProgress', status: 'True', observedGeneration: 2 }]
    await using agent = await startAgent(world, API)
    agent.setPods([createSized(large, { generation: 2, conditions })], 'api')
    await agent.settle()
    assert.deepEqual(reported(agent), reportedOf('128Mi'))
    assert.deepEqual(resized(agent), ['ResizeStarted', 'ResizeCompleted'])
  })

  for (const broken of ['allocated', 'actuated'] as const) {
    test(`rebuilds what ${broken} pods have from what runs when the file is broken`, async () => {
      const allocatable = { pods: '10', cpu: '1', memory: '100Mi', 'ephemeral-storage': '1Gi' }
      await using world = await createWorld()
      const first = await startSmall(world, { allocatable })
      const id = instanceOf(world)
      await first.die()
      world.stateFiles[broken].text = '{"data":"{'
      await using agent = await startAgent(world, { ...API, allocatable })
      agent.setPods([createSized(large, { generation: 2 })], 'api')
      await agent.pass(2000)
      assert.deepEqual(reported(agent), { ...reportedOf('64Mi'), conditions: ['PodResizePending Deferred 2'] })
      assert.equal(instanceOf(world), id)
      assert.equal(memoryOf(world), 64n * MI)
      const line = agent.lines.find(({ level }) => level === 'error')
      assert.equal(line?.fields['setAside'], `${broken}_pods_state.broken`)
      const entries = parseAllocations(world.stateFiles[broken].text ?? '')
      assert.deepEqual([...entries.keys()], ['u-1'])
    })
  }

  test('forgets pods that are gone', async () => {
    await using world = await createWorld()
    const first = await startSmall(world)
    await first.die()
    await using agent = await startAgent(world, API)
    agent.setPods([createSized(small, { uid: 'u-2' })], 'api')
    await agent.pass(40_000, 1000)
    agent.setPods([createSized(large, { uid: 'u-2', generation: 2 })], 'api')
    await agent.settle()
    for (const { text } of Object.values(world.stateFiles)) {
      assert.deepEqual([...parseAllocations(text ?? '').keys()], ['u-2'])
    }
  })
})
