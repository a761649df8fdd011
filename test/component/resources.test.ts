import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ResourceRequirements } from '../../src/model/generated/core-v1.ts'
import { startAgent } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld, instanceOf } from './create-world.ts'

const small = { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '64Mi' } }
const large = { requests: { cpu: '200m', memory: '64Mi' }, limits: { memory: '64Mi' } }
const createSized = (resources: ResourceRequirements) =>
  createWantedPod('u-1', { containers: [createWantedContainer({ resources })] })

describe('resources of a pod', () => {
  test('are told as its container was made with them, and other ones only from its next start on', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    const told = () => {
      const { containerStatuses, allocatedResources, conditions } = agent.statusOf('u-1') ?? {}
      const [main] = containerStatuses ?? []
      return {
        container: main?.allocatedResources?.['cpu'],
        set: main?.resources?.requests?.['cpu'],
        pod: allocatedResources?.['cpu'],
        pending: conditions?.find(({ type }) => type === 'PodResizePending')?.reason,
      }
    }
    agent.setPods([createSized(small)])
    await agent.settle()
    assert.deepEqual(told(), { container: '100m', set: '100m', pod: '100m', pending: undefined })
    agent.setPods([createSized(large)])
    await agent.pass(1000)
    assert.deepEqual(told(), { container: '100m', set: '100m', pod: '100m', pending: 'Infeasible' })
    world.cri.exitContainer(instanceOf(world), 1)
    await agent.pass(1000)
    assert.deepEqual(told(), { container: '200m', set: '200m', pod: '200m', pending: undefined })
  })
})
