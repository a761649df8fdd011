import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Container, ResourceRequirements } from '../../src/model/generated/core-v1.ts'
import type { Pod } from '../../src/model/pod.ts'
import { startAgent } from './create-agent.ts'
import type { Agent, World } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld, instanceOf } from './create-world.ts'

const small = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m', memory: '64Mi' } }
const large = { requests: { cpu: '200m', memory: '128Mi' }, limits: { cpu: '400m', memory: '128Mi' } }

function createSized(resources: ResourceRequirements, generation = 1, parts: Partial<Container> = {}): Pod {
  const pod = createWantedPod('u-1', { containers: [createWantedContainer({ resources, ...parts })] })
  return { ...pod, metadata: { ...pod.metadata, generation } }
}

function told(agent: Agent, uid = 'u-1') {
  const { containerStatuses, allocatedResources, resources, conditions } = agent.statusOf(uid) ?? {}
  const [main] = containerStatuses ?? []
  return {
    granted: main?.allocatedResources?.['memory'],
    has: main?.resources?.limits?.['memory'],
    pod: [allocatedResources?.['memory'], resources?.requests?.['memory']],
    restarts: main?.restartCount,
    conditions: (conditions ?? [])
      .filter(({ type }) => type.startsWith('PodResize'))
      .map(({ type, reason = '', observedGeneration }) => `${type} ${reason} ${observedGeneration}`),
  }
}

const updates = ({ cri }: World) => cri.called.filter(({ method }) => method === 'updateContainerResources').length
const resized = (agent: Agent) => agent.reasons().filter((reason) => reason.startsWith('Resize'))

describe('a pod that asks for other resources while it runs', () => {
  test('gets them, without a new start', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([createSized(small)])
    await agent.settle()
    assert.deepEqual(told(agent), { granted: '64Mi', has: '64Mi', pod: ['64Mi', '64Mi'], restarts: 0, conditions: [] })
    agent.setPods([createSized(large, 2)])
    await agent.pass(1000)
    assert.deepEqual(told(agent), {
      granted: '128Mi',
      has: '128Mi',
      pod: ['128Mi', '128Mi'],
      restarts: 0,
      conditions: [],
    })
    assert.deepEqual(resized(agent), ['ResizeStarted', 'ResizeCompleted'])
    assert.equal(updates(world), 2)
    assert.equal(instanceOf(world), agent.observer.get(createSized(small).metadata.uid)?.containers[0]?.id)
  })
})
