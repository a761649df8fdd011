import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ResourceRequirements } from '../../src/model/generated/core-v1.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { FakeCpuNode } from '../fakes/fake-cpu-node.ts'
import { startAgent, until } from './create-agent.ts'
import type { Agent, World } from './create-agent.ts'
import { staticCpus } from './static-cpus.ts'
import { createWantedContainer, createWantedPod, createWorld } from './create-world.ts'

const both = (cpu: string): ResourceRequirements => ({
  requests: { cpu, memory: '64Mi' },
  limits: { cpu, memory: '64Mi' },
})

function createSized(uid: string, cpu: string, spec: Partial<Pod['spec']> = {}): Pod {
  return createWantedPod(uid, { containers: [createWantedContainer({ resources: both(cpu) })], ...spec })
}

/** "<pod> <cpus> <quota>" of all containers that run. */
const shown = ({ cri }: World): string[] =>
  [...cri.runtime.containers.values()]
    .filter(({ state }) => state === 1)
    .map(({ config, resources }) => {
      const pod = config.labels['io.kubernetes.pod.uid'] ?? ''
      return `${pod} ${resources.cpusetCpus} ${resources.cpuQuota > 0n ? resources.cpuQuota : 'unlimited'}`
    })

const updatesOf = ({ cri }: World) => cri.called.filter(({ method }) => method === 'updateContainerResources').length

async function runs(agent: Agent, world: World, ...expected: readonly string[]): Promise<void> {
  await until(() => shown(world).join() === expected.join(), `${expected.join()} instead of ${shown(world).join()}`)
  await agent.settle()
  assert.deepEqual(shown(world), expected)
}

describe('CPUs of containers', () => {
  test('are set when a container is made, and change for the others with it', async () => {
    await using world = await createWorld()
    const disk = new FakeCpuNode()
    await using agent = await startAgent(world, staticCpus(world, disk))
    const small = createSized('small', '500m')
    agent.setPods([small])
    await runs(agent, world, 'small 0-7 50000')
    const large = createSized('large', '4')
    agent.setPods([small, large])
    await runs(agent, world, 'small 0,3-4,7 50000', 'large 1-2,5-6 unlimited')
    agent.setPods([small, large, createSized('late', '4')])
    await agent.settle()
    const late = agent.registry.views().find(({ pod }) => pod.metadata.uid === 'late')
    assert.deepEqual([late?.status.phase, late?.status.reason], ['Failed', 'UnexpectedAdmissionError'])
    agent.setPods([small])
    await runs(agent, world, 'small 0-7 50000')
    assert.equal(updatesOf(world), 2)
    assert.doesNotMatch(disk.file ?? '', /entries/)
  })

  test('are free again when their pod is terminal, although it is still there', async () => {
    await using world = await createWorld({ programOf: () => ({ exitsAfterMs: 5000 }) })
    const disk = new FakeCpuNode()
    await using agent = await startAgent(world, staticCpus(world, disk))
    const job = createSized('job', '6', { restartPolicy: 'Never' })
    agent.setPods([job])
    await runs(agent, world, 'job 1-3,5-7 unlimited')
    await agent.pass(5000)
    agent.setPods([job, createSized('next', '6', { restartPolicy: 'Never' })])
    await runs(agent, world, 'next 1-3,5-7 unlimited')
  })

  test('are those of the init containers before', async () => {
    await using world = await createWorld({
      programOf: ({ metadata }) => (metadata?.name === 'first' ? { exitsAfterMs: 0 } : {}),
    })
    await using agent = await startAgent(world, staticCpus(world, new FakeCpuNode()))
    const first = createWantedContainer({ name: 'first', resources: both('6') })
    agent.setPods([createSized('web', '4', { initContainers: [first] })])
    await agent.pass(1000)
    await runs(agent, world, 'web 1-2,5-6 unlimited')
    const [made] = world.cri.runtime.containers.values()
    assert.equal(made?.resources.cpusetCpus, '1-3,5-7')
  })

  test('stay those of a pod that asks for more of them, and of one that gets more memory', async () => {
    const create = (resources: ResourceRequirements) =>
      createWantedPod('web', { containers: [createWantedContainer({ resources })] })
    await using world = await createWorld()
    const options = staticCpus(world, new FakeCpuNode())
    {
      await using agent = await startAgent(world, options)
      agent.setPods([create(both('2'))])
      await runs(agent, world, 'web 1,5 unlimited')
      agent.setPods([create(both('3'))])
      await runs(agent, world, 'web 1,5 unlimited')
      assert.deepEqual(
        agent.statusOf('web')?.conditions?.flatMap(({ type, reason }) => (type === 'PodResizePending' ? [reason] : [])),
        ['Infeasible'],
      )
    }
    await using agent = await startAgent(world, options)
    agent.setPods([create(both('3'))])
    await runs(agent, world, 'web 1,5 unlimited')
    const larger = { requests: { cpu: '2', memory: '128Mi' }, limits: { cpu: '2', memory: '128Mi' } }
    agent.setPods([create(larger)])
    await runs(agent, world, 'web 1,5 unlimited')
    const [made] = world.cri.runtime.containers.values()
    assert.equal(made?.resources.memoryLimitInBytes, 128n * 1024n ** 2n)
  })

  for (const [what, lose] of [
    ['restarted', (text: string) => text],
    ['restarted with a broken record', (text: string) => text.replace('1,5', '2,6')],
    ['restarted without a record', () => undefined],
  ] as const) {
    test(`stay as they are when the agent is ${what}`, async () => {
      await using world = await createWorld()
      const disk = new FakeCpuNode()
      const [small, large] = [createSized('small', '500m'), createSized('large', '2')]
      const expected = ['small 0,2-4,6-7 50000', 'large 1,5 unlimited']
      {
        await using agent = await startAgent(world, staticCpus(world, disk))
        agent.setPods([small])
        await agent.settle()
        agent.setPods([small, large])
        await runs(agent, world, ...expected)
      }
      const record = disk.file
      disk.file = lose(record ?? '')
      const before = updatesOf(world)
      await using agent = await startAgent(world, staticCpus(world, disk))
      agent.setPods([small, large])
      await runs(agent, world, ...expected)
      assert.deepEqual([updatesOf(world), disk.file], [before, record])
    })
  }
})
