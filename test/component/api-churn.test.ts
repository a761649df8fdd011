import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from './create-agent.ts'
import { createCluster, joinCluster } from './create-cluster.ts'
import { changes, createWorld, running } from './create-world.ts'

const LINGER_MS = 5000
const READS = ['GET /api/v1/pods']

test('pods that end, start and are deleted while the API is away: it has one final state of each soon after it is back', async (t) => {
  await using world = await createWorld()
  const cluster = await createCluster(t, world)
  await using agent = await joinCluster(world, cluster, { random: () => 0.5 })
  agent.setPods([])
  const names = Array.from({ length: 10 }, (_, index) => `web-${index}`)
  for (const name of names) await cluster.create(name, { restartPolicy: name < 'web-5' ? 'Never' : 'Always' })
  await agent.settle()
  assert.equal(running(world).length, names.length)
  cluster.client.goAway()
  await cluster.delete('web-9')
  await cluster.create('late')
  // Every container ends again and again, and each end is a new status.
  for (let round = 0; round < 6; round += 1) {
    for (const id of world.cri.runtime.containers.keys()) world.cri.exitContainer(id, 1)
    await agent.pass(100_000, 20_000)
  }
  const away = cluster.client.sent.filter((line) => line.startsWith('PATCH')).length - names.length
  assert.ok(away > 0 && away < 70, `${away} tries in ten minutes`)
  assert.ok(agent.writer.pending <= names.length, 'what waits is one thing for each pod')
  const before = cluster.client.sent.length
  cluster.client.comeBack()
  await agent.pass(40_000, 5000)
  await until(() => agent.writer.pending === 0, 'all is reported')
  const phases = await Promise.all(names.map(async (name) => (await cluster.get(name))?.status.phase))
  assert.deepEqual(phases, [
    ...Array.from({ length: 5 }, () => 'Failed'),
    ...Array.from({ length: 4 }, () => 'Running'),
    undefined,
  ])
  assert.equal((await cluster.get('late'))?.status.phase, 'Running')
  const writes = cluster.client.sent.slice(before).filter((line) => !line.startsWith('GET'))
  assert.equal(writes.filter((line) => line.startsWith('DELETE')).length, 1)
  assert.ok(writes.length <= 2 * names.length + 2, `${writes.length} requests`)
  await agent.pass(LINGER_MS, LINGER_MS)
  assert.deepEqual(
    [agent.writer.size, agent.workers.size],
    [names.length, names.length],
    'and nothing of the one that is gone',
  )
})

test('twenty agents one after another with ten pods: nothing starts, stops, restarts or is reported again', async (t) => {
  await using world = await createWorld()
  const cluster = await createCluster(t, world)
  const names = Array.from({ length: 10 }, (_, index) => `web-${index}`)
  {
    await using first = await joinCluster(world, cluster, { places: 16 })
    first.setPods([])
    const readinessProbe = { exec: { command: ['true'] }, periodSeconds: 5 }
    const container = { name: 'main', image: 'registry.test/app:1', imagePullPolicy: 'IfNotPresent' }
    for (const [index, name] of names.entries())
      await cluster.create(name, { containers: [index < 5 ? container : { ...container, readinessProbe }] })
    await first.pass(10_000, 5000)
  }
  const states = async () => await Promise.all(names.map((name) => cluster.get(name)))
  const [reported, done, sent] = [await states(), changes(world).length, cluster.client.sent.length]
  assert.ok(
    reported.every((pod) => pod?.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')),
  )
  for (let round = 0; round < 20; round += 1) {
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await agent.pass(LINGER_MS, LINGER_MS)
    if (round % 2 === 0) await agent.die()
  }
  assert.deepEqual(changes(world).slice(done), [])
  assert.deepEqual([...new Set(cluster.client.sent.slice(sent))], READS)
  assert.deepEqual(await states(), reported)
})
