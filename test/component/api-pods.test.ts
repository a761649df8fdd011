import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { KubeApiError, KubeUnreachableError } from '../../src/protocols/kube-api/kube-client.ts'
import type { PodStatus } from '../../src/model/generated/core-v1.ts'
import { until } from './create-agent.ts'
import { createCluster, joinCluster } from './create-cluster.ts'
import type { Cluster } from './create-cluster.ts'
import { changes, createWorld, hangNext, instanceOf, running } from './create-world.ts'

const LINGER_MS = 5000
const POD = '/api/v1/namespaces/shop/pods/web'
const container = (name: string) => ({ name, image: 'registry.test/app:1', imagePullPolicy: 'IfNotPresent' })

function writes({ client }: Cluster): readonly string[] {
  return client.sent.filter((line) => !line.startsWith('GET'))
}

describe('a pod of the API', () => {
  test('runs, and that is reported to the API at once', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    const uid = await cluster.create('web')
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
    assert.deepEqual([status.observedGeneration, status.containerStatuses?.length], [1, 1])
    assert.equal(agent.registry.view(uid)?.pod.metadata.annotations?.['kubernetes.io/config.source'], 'api')
    const before = cluster.client.sent.length
    await agent.pass(120_000, 10_000)
    assert.equal(cluster.client.sent.length, before, 'nothing new, nothing sent')
    assert.ok(agent.reported.every((seconds) => seconds === 0))
  })

  test('has its sandbox in the API while its image still comes, and that costs one write', async (t) => {
    await using world = await createWorld({ images: [] })
    const pull = hangNext(world, 'pullImage')
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await cluster.create('web')
    await until(() => world.cri.requests('runPodSandbox').length === 1, 'the sandbox')
    await agent.settle()
    const shown = async () => {
      const { status } = (await cluster.get('web')) ?? {}
      const ready = status?.conditions?.find(({ type }) => type === 'PodReadyToStartContainers')?.status
      return `${status?.phase} ${ready} ${status?.podIP ?? 'without address'}`
    }
    assert.equal(await shown(), 'Pending False without address')
    await world.clock.advance(1000)
    await agent.settle()
    assert.match(await shown(), /^Pending True \d/)
    const before = writes(cluster).filter((line) => line.includes('/status')).length
    await agent.pass(10_000)
    assert.equal(writes(cluster).filter((line) => line.includes('/status')).length, before, 'said once')
    pull.release()
    await agent.settle()
    assert.match(await shown(), /^Running True/)
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
    assert.deepEqual(changes(world).slice(3), ['stopContainer main 7s', 'stopPodSandbox'])
    // That it is being made, that it runs, how it ended.
    const reported = Array.from({ length: 3 }, () => `PATCH ${POD}/status`)
    assert.deepEqual(writes(cluster), [...reported, `DELETE ${POD}`])
    const [final, end] = cluster.client.bodies.slice(-2) as [{ status: { phase: string } }, object]
    assert.equal(final.status.phase, 'Failed')
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } }
    assert.deepEqual(end, options)
    assert.deepEqual(agent.cgroupsRemoved, [uid], 'before the API forgets it')
    assert.equal(await cluster.get('web'), undefined)
    await agent.pass(LINGER_MS)
    assert.equal(agent.workers.size, 0)
    assert.equal(agent.writer.pending, 0)
  })

  test('may have times that mean for ever', async (t) => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    const ever = 9223372036854775807n
    const preStop = { sleep: { seconds: ever } }
    await cluster.create('web', {
      terminationGracePeriodSeconds: ever,
      tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: ever }],
      containers: [{ ...container('main'), lifecycle: { preStop } }],
    })
    await agent.settle()
    assert.deepEqual(running(world), ['main'])
    const [{ config } = assert.fail()] = world.cri.requests('createContainer')
    assert.equal(config?.annotations['io.kubernetes.pod.terminationGracePeriod'], `${ever}`)
    await cluster.delete('web')
    await agent.pass(3_600_000, 600_000)
    assert.deepEqual(running(world), ['main'])
    assert.equal((await cluster.get('web'))?.metadata.deletionGracePeriodSeconds, ever)
    await cluster.delete('web', { gracePeriodSeconds: 3 })
    await agent.pass(6000)
    assert.equal(await cluster.get('web'), undefined)
    assert.deepEqual(running(world), [])
  })

  test('ends sooner when it is deleted once more with less time', async (t) => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await cluster.create('web', { terminationGracePeriodSeconds: 3600 })
    await agent.settle()
    await cluster.delete('web')
    await agent.pass(2000)
    await cluster.delete('web', { gracePeriodSeconds: 3 })
    await agent.pass(5000)
    assert.equal(await cluster.get('web'), undefined)
  })

  test('that is deleted by force is ended with its own grace period, and nothing more is reported about it', async (t) => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await cluster.create('web', { terminationGracePeriodSeconds: 7 })
    await agent.settle()
    const before = writes(cluster).length
    await cluster.delete('web', { gracePeriodSeconds: 0 })
    await agent.settle()
    // Another of its name has nothing to do with it.
    const next = await cluster.create('web')
    await agent.pass(7000 + LINGER_MS)
    assert.equal((await cluster.get('web'))?.metadata.uid, next)
    assert.equal((await cluster.get('web'))?.status.phase, 'Running')
    assert.deepEqual(writes(cluster).slice(before), [`PATCH ${POD}/status`, `PATCH ${POD}/status`])
    assert.deepEqual(
      world.cri.requests('stopContainer').map(({ timeout }) => timeout),
      [7n],
    )
    assert.equal(agent.workers.size, 1)
  })

  test('that was deleted while no agent was there is ended, reported and removed', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using first = await joinCluster(world, cluster)
    first.setPods([])
    await cluster.create('web')
    await first.settle()
    await first.die()
    await cluster.delete('web')
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await agent.pass(1000)
    assert.equal(await cluster.get('web'), undefined)
    assert.deepEqual(running(world), [])
  })

  test('that has finished keeps its last status, and goes at once when it is deleted', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await cluster.create('web', { restartPolicy: 'Never' })
    await agent.settle()
    world.cri.exitContainer(instanceOf(world), 0)
    await agent.pass(1000)
    const { status } = (await cluster.get('web')) ?? {}
    assert.equal(status?.phase, 'Succeeded')
    assert.equal(status.containerStatuses?.[0]?.state?.terminated?.exitCode, 0)
    assert.equal(world.cri.runtime.containers.size, 1, 'kept for readers of its log')
    await cluster.delete('web')
    await agent.pass(LINGER_MS + 1000)
    assert.equal(await cluster.get('web'), undefined)
    assert.equal(world.cri.runtime.containers.size, 0)
  })

  test('is not reported as terminal while something of it runs', async (t) => {
    await using world = await createWorld({
      programOf: ({ metadata }) => (metadata?.name === 'deaf' ? { onTerm: 'ignore' } : {}),
    })
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    const spec = { activeDeadlineSeconds: 5, terminationGracePeriodSeconds: 30 }
    const uid = await cluster.create('web', { ...spec, containers: [container('main'), container('deaf')] })
    await agent.pass(10_000)
    assert.equal(agent.statusOf(uid)?.reason, 'DeadlineExceeded')
    assert.equal((await cluster.get('web'))?.status.phase, 'Running')
    await agent.pass(30_000)
    const { status } = (await cluster.get('web')) ?? {}
    assert.deepEqual([status?.phase, status?.reason], ['Failed', 'DeadlineExceeded'])
  })

  test('that another client ends in the API is stopped, and never runs again', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await cluster.create('web')
    await agent.settle()
    await cluster.ask('PATCH:merge', `${POD}/status`, { body: { status: { phase: 'Failed', reason: 'NodeLost' } } })
    await agent.pass(60_000, 10_000)
    assert.deepEqual(running(world), [])
    const { status } = (await cluster.get('web')) ?? {}
    assert.deepEqual([status?.phase, status?.reason], ['Failed', 'NodeLost'])
    assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'False')
  })

  test('that the node evicts is reported as disrupted, once it is terminal', async (t) => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    const uid = await cluster.create('web')
    await agent.settle()
    const message = 'The node was low on memory'
    const eviction = { reason: 'Evicted', message, disruption: message, graceSeconds: 4 }
    let isOver = false
    const evicted = agent.registry.evict(uid, eviction, agent.group.signal).then(() => (isOver = true))
    await agent.pass(3000)
    assert.deepEqual([isOver, (await cluster.get('web'))?.status.phase], [false, 'Running'])
    await agent.pass(2000)
    await evicted
    const { status } = (await cluster.get('web')) ?? {}
    assert.deepEqual([status?.phase, status?.reason, status?.message], ['Failed', 'Evicted', eviction.message])
    const { type, reason } = status?.conditions?.find((condition) => condition.type === 'DisruptionTarget') ?? {}
    assert.deepEqual([type, reason], ['DisruptionTarget', 'TerminationByKubelet'])
  })
})

describe('a pod that the node rejects', () => {
  const allocatable = { pods: '10', cpu: '1', memory: '1Gi' }
  const container = { name: 'main', image: 'registry.test/app:1', imagePullPolicy: 'IfNotPresent' } as const
  const large = { containers: [{ ...container, resources: { requests: { cpu: '2' } } }] }

  test('is failed in the API, and stays so for agents that would admit it', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using first = await joinCluster(world, cluster, { allocatable })
    first.setPods([])
    await cluster.create('web', large)
    await first.settle()
    const { status } = (await cluster.get('web')) ?? {}
    assert.deepEqual([status?.phase, status?.reason, status?.observedGeneration], ['Failed', 'OutOfcpu', 1])
    assert.ok(
      status?.conditions?.some(({ type }) => type === 'PodScheduled'),
      'what the scheduler said stays',
    )
    await first.leave()
    const before = cluster.client.sent.length
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await agent.pass(60_000, 10_000)
    assert.deepEqual(changes(world), [])
    assert.deepEqual(cluster.client.sent.slice(before), ['GET /api/v1/pods'])
    await cluster.delete('web')
    await agent.pass(LINGER_MS + 1000)
    assert.equal(agent.workers.size, 0)
  })

  test('goes from the API when it was deleted before it was reported', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster, { allocatable })
    agent.setPods([])
    await agent.settle()
    cluster.client.failure = ({ method }) => (method === 'PATCH' ? new Error('not now') : undefined)
    await cluster.create('web', large)
    await agent.settle()
    await cluster.delete('web')
    await agent.settle()
    cluster.client.failure = undefined
    await agent.pass(30_000, 10_000)
    assert.equal(await cluster.get('web'), undefined)
    assert.deepEqual(agent.registry.views(), [])
  })
})

describe('what others write into the status of a pod', () => {
  test('stays when it is theirs, and decides about readiness where the pod says so', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await cluster.create('web', { readinessGates: [{ conditionType: 'shop.test/paid' }] })
    await agent.settle()
    const ready = async () => (await cluster.get('web'))?.status.conditions?.find(({ type }) => type === 'Ready')
    assert.deepEqual([(await ready())?.status, (await ready())?.reason], ['False', 'ReadinessGatesNotReady'])
    const conditions = [{ type: 'shop.test/paid', status: 'True' }]
    await cluster.ask('PATCH:strategic', `${POD}/status`, { body: { status: { conditions } } })
    await agent.settle()
    assert.equal((await ready())?.status, 'True')
    const paid = (await cluster.get('web'))?.status.conditions?.find(({ type }) => type === 'shop.test/paid')
    assert.equal(paid?.status, 'True')
  })

  test('is corrected when it is ours, without an endless fight', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await cluster.create('web')
    await agent.pass(10_000)
    const lie = async () => {
      await cluster.ask('PATCH:merge', `${POD}/status`, { body: { status: { podIP: '203.0.113.1', podIPs: null } } })
      await agent.settle()
    }
    const before = writes(cluster).length
    const address = (await cluster.get('web'))?.status.podIP
    await lie()
    assert.equal((await cluster.get('web'))?.status.podIP, address)
    for (let times = 0; times < 5; times += 1) await lie()
    assert.equal(writes(cluster).length - before, 1, 'the second repair waits')
    await agent.pass(10_000)
    assert.equal((await cluster.get('web'))?.status.podIP, address)
    assert.equal(writes(cluster).length - before, 2)
  })

  test('is corrected at once when it was the last word of an agent that was killed', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using first = await joinCluster(world, cluster)
    first.setPods([])
    await cluster.create('web')
    await first.settle()
    await first.die()
    await using agent = await joinCluster(world, cluster)
    agent.setPods([])
    await agent.settle()
    // It arrives when the next agent has read the pod, and just before it writes something else.
    let isSent = false
    const conditions = [{ type: 'PodResizeInProgress', status: 'True' }]
    cluster.client.before = async ({ path, body }) => {
      const { status } = (body ?? {}) as { readonly status?: PodStatus }
      if (isSent || status?.containerStatuses?.[0]?.state?.running === undefined) return
      isSent = true
      await cluster.ask('PATCH:strategic', path, { body: { status: { conditions } } })
    }
    world.cri.runtime.exit(instanceOf(world), 1)
    await agent.pass(1000)
    assert.ok(isSent)
    const { status } = (await cluster.get('web')) ?? {}
    assert.equal(status?.containerStatuses?.[0]?.restartCount, 1)
    assert.deepEqual(
      status.conditions?.filter(({ type }) => type === 'PodResizeInProgress'),
      [],
    )
  })
})

test('an API that answers badly for a while loses no status and stops nothing', async (t) => {
  await using world = await createWorld()
  const cluster = await createCluster(t, world)
  await using agent = await joinCluster(world, cluster)
  agent.setPods([])
  await agent.settle()
  const bad = [
    () => new KubeApiError('etcd has no leader', { code: 500, reason: 'InternalError' }),
    () => new KubeApiError('too many requests', { code: 429, reason: 'TooManyRequests', retryAfterSeconds: 20 }),
    () => new KubeUnreachableError('Cannot read the answer: no end after 30 s'),
    () => new SyntaxError('Unexpected token in JSON'),
  ]
  let asked = 0
  cluster.client.failure = ({ method }) => (method === 'PATCH' ? bad[(asked += 1) % bad.length]?.() : undefined)
  await cluster.create('web')
  await agent.pass(60_000, 5000)
  assert.ok(asked >= bad.length && asked < 15, `${asked} requests`)
  assert.deepEqual(running(world), ['main'])
  cluster.client.failure = undefined
  await agent.pass(60_000, 10_000)
  assert.equal((await cluster.get('web'))?.status.phase, 'Running')
  await until(() => agent.writer.pending === 0, 'all is reported')
})
