import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changes, createWorld, running } from './create-world.ts'
import { createCluster, joinCluster } from './create-cluster.ts'

const LINGER_MS = 5000
const POD = '/api/v1/namespaces/shop/pods/web'

describe('a pod of the API', () => {
  test('runs, and the API is told so', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await cluster.create('web')
    await agent.settle()
    assert.deepEqual(running(world), ['main'])
    const { status } = (await cluster.get('web')) ?? {}
    assert.equal(status?.phase, 'Running')
    assert.deepEqual(status.conditions?.map(({ type, status: value }) => `${type} ${value}`).sort(), [
      'ContainersReady True',
      'Initialized True',
      'PodReadyToStartContainers True',
      'PodScheduled True',
      'Ready True',
    ])
    console.log(client(cluster))
  })
  test('gets its grace when it is deleted, and goes from the API last', async (t) => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    const uid = await cluster.create('web', { terminationGracePeriodSeconds: 7 })
    await agent.settle()
    await cluster.delete('web')
    await agent.pass(6000)
    assert.equal((await cluster.get('web'))?.status.phase, 'Running')
    await agent.pass(1000)
    console.log(
      changes(world),
      client(cluster),
      JSON.stringify(cluster.client.bodies.at(-2)),
      cluster.client.bodies.at(-1),
    )
    assert.equal(await cluster.get('web'), undefined)
    await agent.pass(LINGER_MS)
    assert.equal(agent.workers.size, 0)
  })
})
function client(c: any) {
  return c.client.sent
}
void POD
