import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '../../src/model/pod/pod.ts'
import { MACHINES } from '../builders/cpu-machines.ts'
import { FakeCpuNode } from '../fakes/fake-cpu-node.ts'
import { FakeStateFile } from '../fakes/fake-state-file.ts'
import { combine, startAgent, until } from './create-agent.ts'
import type { Agent, World } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld } from './create-world.ts'
import { staticCpus } from './static-cpus.ts'
import { staticMemory } from './static-memory.ts'

/** CPUs 0-3 are on node 0, 4-7 on node 1; CPU 0 is reserved. */
const CPUS = MACHINES['two sockets without threads']

function createSized(uid: string, cpu: string, memory: string, spec: Partial<Pod['spec']> = {}): Pod {
  const all = { cpu, memory }
  return createWantedPod(uid, {
    containers: [createWantedContainer({ resources: { requests: all, limits: all } })],
    ...spec,
  })
}

/** "<pod> <cpus> <memory nodes>" of all containers that run. */
const shown = ({ cri }: World): string[] =>
  [...cri.runtime.containers.values()]
    .filter(({ state }) => state === 1)
    .map(({ config, resources }) =>
      `${config.labels['io.kubernetes.pod.uid'] ?? ''} ${resources.cpusetCpus} ${resources.cpusetMems}`.trim(),
    )

async function runs(agent: Agent, world: World, ...expected: readonly string[]): Promise<void> {
  await until(() => shown(world).join() === expected.join(), `${expected.join()} instead of ${shown(world).join()}`)
  await agent.settle()
  assert.deepEqual(shown(world), expected)
}

const failureOf = (agent: Agent, uid: string) => {
  const { phase, reason, message } = agent.statusOf(uid) ?? {}
  return { phase, reason, message }
}

describe('placing pods', () => {
  test('gives CPUs and memory of the same node, and rejects a pod that has no such place', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(
      world,
      combine(staticCpus(world, new FakeCpuNode(), CPUS), staticMemory(world, new FakeStateFile('memory')), {
        flags: ['--topology-manager-policy=single-numa-node'],
      }),
    )
    const [a, b] = [createSized('a', '3', '1Gi'), createSized('b', '2', '3Gi')]
    agent.setPods([a])
    await runs(agent, world, 'a 1-3 0')
    agent.setPods([a, b])
    await runs(agent, world, 'a 1-3 0', 'b 4-5 1')
    // There are CPUs on node 1 and memory on node 0.
    agent.setPods([a, b, createSized('c', '2', '2Gi')])
    await until(() => agent.statusOf('c')?.phase === 'Failed', 'c to be rejected')
    assert.deepEqual(failureOf(agent, 'c'), {
      phase: 'Failed',
      reason: 'TopologyAffinityError',
      message: 'Pod was rejected: Resources cannot be allocated with Topology locality',
    })
    agent.setPods([b])
    await runs(agent, world, 'b 4-5 1')
    agent.setPods([b, createSized('d', '2', '2Gi')])
    await runs(agent, world, 'b 4-5 1', 'd 1-2 0')
  })

  test('gives a pod with resources of its own all of them from one node, and its containers parts of them', async () => {
    await using world = await createWorld()
    const memory = new FakeStateFile('memory')
    const cpus = new FakeCpuNode()
    await using agent = await startAgent(
      world,
      combine(staticCpus(world, cpus, CPUS), staticMemory(world, memory), {
        flags: [
          '--topology-manager-policy=single-numa-node',
          '--topology-manager-scope=pod',
          '--feature-gates=PodLevelResourceManagers=true',
        ],
      }),
    )
    const [own, part] = [
      { cpu: '4', memory: '3Gi' },
      { cpu: '2', memory: '1Gi' },
    ]
    const create = (uid: string, first: Readonly<Record<string, string>>) =>
      createWantedPod(uid, {
        resources: { requests: own, limits: own },
        containers: [
          createWantedContainer({ name: 'first', resources: { requests: first, limits: first } }),
          createWantedContainer({ name: 'second' }),
        ],
      })
    const a = create('a', part)
    agent.setPods([a])
    // Only node 1 has four CPUs that are not reserved.
    await runs(agent, world, 'a 4-5 1', 'a 6-7 1')
    const quotas = [...world.cri.runtime.containers.values()].map(({ resources }) => resources.cpuQuota)
    assert.deepEqual(quotas, [0n, 400_000n], 'a quota holds only for the one that shares')
    assert.match(memory.text ?? '', /"podEntries":{"a":{"memoryBlocks":\[{"numaAffinity":\[1\]/)
    assert.match(cpus.file ?? '', /"podEntries":{"a":{"cpuSet":"4-7"}}/)
    agent.setPods([a, create('b', part)])
    await until(() => agent.statusOf('b')?.phase === 'Failed', 'b to be rejected')
    assert.deepEqual(failureOf(agent, 'b'), {
      phase: 'Failed',
      reason: 'TopologyAffinityError',
      message:
        'Pod was rejected: Pod Scope pod with pod-level resources failed admission under pod-scope topology manager',
    })
  })

  test('leaves those alone that are not Guaranteed, and takes all nodes for what no node has', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(
      world,
      combine(staticMemory(world, new FakeStateFile('memory')), {
        flags: ['--topology-manager-policy=restricted', '--topology-manager-scope=pod'],
      }),
    )
    const small = createWantedPod('small', { containers: [createWantedContainer({})] })
    const wide = createSized('wide', '1', '6Gi')
    agent.setPods([small])
    await runs(agent, world, 'small')
    agent.setPods([small, wide])
    await runs(agent, world, 'small', 'wide  0,1')
  })

  test('gives a container what it had when it starts again', async () => {
    await using world = await createWorld({ programOf: () => ({ exitsAfterMs: 1000 }) })
    const file = new FakeStateFile('memory')
    await using agent = await startAgent(world, staticMemory(world, file))
    agent.setPods([createSized('a', '1', '3Gi')])
    await runs(agent, world, 'a  0')
    await agent.pass(3000)
    const made = world.cri.requests('createContainer').map(({ config }) => config?.linux?.resources?.cpusetMems)
    assert.deepEqual(made, ['0', '0'])
  })

  for (const [what, lose] of [
    ['restarted', (text: string) => text],
    ['restarted with a broken record', (text: string) => text.replace('"size":3', '"size":4')],
    ['restarted without a record', () => undefined],
  ] as const) {
    test(`keeps memory where it is when the agent is ${what}`, async () => {
      await using world = await createWorld()
      const file = new FakeStateFile('memory')
      const [a, b] = [createSized('a', '1', '3Gi'), createSized('b', '1', '3Gi')]
      {
        await using agent = await startAgent(world, staticMemory(world, file))
        agent.setPods([a, b])
        await until(() => shown(world).length === 2, 'both to run')
        await agent.settle()
      }
      const [before, record] = [shown(world), file.text]
      file.text = lose(record ?? '')
      await using agent = await startAgent(world, staticMemory(world, file))
      // In the other order: each keeps what it has, not what it would get now.
      agent.setPods([b, a])
      await until(() => file.text === record, 'the record to be as it was')
      await runs(agent, world, ...before)
      agent.setPods([b, a, createSized('c', '1', '3Gi')])
      await until(() => agent.statusOf('c')?.phase === 'Failed', 'c to be rejected')
      assert.equal(failureOf(agent, 'c').reason, 'UnexpectedAdmissionError')
    })
  }

  test('does not resize the memory of a pod that has a place', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, staticMemory(world, new FakeStateFile('memory')))
    agent.setPods([createSized('a', '1', '1Gi')])
    await runs(agent, world, 'a  0')
    agent.setPods([createSized('a', '1', '2Gi')])
    await agent.settle()
    assert.deepEqual(
      agent.statusOf('a')?.conditions?.flatMap(({ type, reason }) => (type === 'PodResizePending' ? [reason] : [])),
      ['Infeasible'],
    )
    agent.setPods([createSized('a', '2', '1Gi')])
    await runs(agent, world, 'a  0')
    const [made] = world.cri.runtime.containers.values()
    assert.deepEqual([made?.resources.cpuQuota, made?.resources.cpusetMems], [200_000n, '0'])
  })
})
