import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { KubeApiError } from '../../src/protocols/kube-api/kube-client.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { createCluster, joinCluster } from './create-cluster.ts'
import { createWantedPod, createWorld, running } from './create-world.ts'

const LINGER_MS = 5000
const HASH = 'kubernetes.io/config.hash'
const MIRROR = 'kubernetes.io/config.mirror'

/** A pod as the file source gives it. */
function createManifestPod(uid: string, image = 'registry.test/app:1'): Pod {
  const pod = createWantedPod(uid, { nodeName: 'node-1', enableServiceLinks: true }, 'proxy-node-1')
  const [container] = pod.spec.containers
  assert.ok(container !== undefined)
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations: { [HASH]: uid } },
    spec: { ...pod.spec, containers: [{ ...container, image }] },
    status: { phase: 'Pending' },
  }
}

describe('a static pod', () => {
  test('has a mirror pod in the API, which shows its status and never runs', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([createManifestPod('hash-1')])
    await agent.settle()
    const mirror = await cluster.get('proxy-node-1')
    assert.deepEqual(mirror?.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: cluster.nodeUid, controller: true },
    ])
    const { annotations = {} } = mirror.metadata
    assert.deepEqual(
      [annotations[MIRROR], annotations[HASH], annotations['kubernetes.io/config.source']],
      ['hash-1', 'hash-1', 'file'],
    )
    assert.equal(mirror.status.phase, 'Running')
    assert.deepEqual([running(world), agent.workers.size], [['main'], 1])
  })

  test('gets a new mirror pod when a user deletes it, and runs on', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([createManifestPod('hash-1')])
    await agent.settle()
    const first = await cluster.get('proxy-node-1')
    for (const options of [{ gracePeriodSeconds: 0 }, {}]) {
      await cluster.delete('proxy-node-1', options)
      await agent.pass(1000)
      const again = await cluster.get('proxy-node-1')
      assert.deepEqual([again?.status.phase, again?.metadata.deletionTimestamp], ['Running', undefined])
      assert.notEqual(again?.metadata.uid, first?.metadata.uid)
    }
    assert.equal(world.cri.requests('stopContainer').length, 0)
  })

  test('gets another mirror when its manifest changes, and none when that is gone', async (t) => {
    await using world = await createWorld({ images: ['registry.test/app:1', 'registry.test/app:2'] })
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([createManifestPod('hash-1')])
    await agent.settle()
    agent.setPods([createManifestPod('hash-2', 'registry.test/app:2')])
    await agent.pass(LINGER_MS)
    const mirror = await cluster.get('proxy-node-1')
    assert.equal(mirror?.metadata.annotations?.[MIRROR], 'hash-2')
    assert.deepEqual([mirror.spec?.containers?.[0]?.image, mirror.status.phase], ['registry.test/app:2', 'Running'])
    agent.setPods([])
    await agent.pass(LINGER_MS + 10_000)
    assert.equal(await cluster.get('proxy-node-1'), undefined)
    assert.equal(agent.workers.size, 0)
  })

  for (const [what, next] of [
    ['is replaced', [createManifestPod('hash-2')]],
    ['is removed', []],
  ] as const) {
    test(`that ${what} keeps its mirror until it has ended its grace`, async (t) => {
      await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
      const cluster = await createCluster(t, world)
      await using agent = await joinCluster(world, cluster)
      agent.setPods([createManifestPod('hash-1')])
      await agent.settle()
      const first = await cluster.get('proxy-node-1')
      agent.setPods(next)
      await agent.pass(29_000)
      assert.deepEqual(await cluster.get('proxy-node-1'), first)
      await agent.pass(3000)
      const { metadata, status } = (await cluster.get('proxy-node-1')) ?? {}
      assert.notEqual(metadata?.uid, first?.metadata.uid)
      assert.equal(status?.phase, next.length === 0 ? undefined : 'Running')
    })
  }

  test('that comes back while it ends keeps its mirror', async (t) => {
    await using world = await createWorld({ programOf: () => ({ onTerm: 'ignore' }) })
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    agent.setPods([createManifestPod('hash-1')])
    await agent.settle()
    const first = await cluster.get('proxy-node-1')
    agent.setPods([])
    await agent.pass(5000)
    agent.setPods([createManifestPod('hash-1')])
    await agent.pass(30_000)
    const mirror = await cluster.get('proxy-node-1')
    assert.deepEqual([mirror?.metadata.uid, mirror?.status.phase], [first?.metadata.uid, 'Running'])
    assert.equal(mirror?.status.containerStatuses?.[0]?.restartCount, 1, 'as in the Go kubelet')
    assert.equal(agent.reasons('hash-1').filter((reason) => reason === 'Started').length, 2)
  })

  test('keeps its mirror pod, with its times, across restarts of the agent', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using first = await joinCluster(world, cluster)
    first.setPods([createManifestPod('hash-1')])
    await first.settle()
    await first.leave()
    const before = await cluster.get('proxy-node-1')
    await world.clock.advance(5000)
    const sent = cluster.client.sent.length
    await using agent = await joinCluster(world, cluster)
    await agent.settle()
    assert.deepEqual(await cluster.get('proxy-node-1'), before, 'not before its manifests were read')
    agent.setPods([createManifestPod('hash-1')])
    await agent.pass(20_000, 10_000)
    assert.deepEqual(await cluster.get('proxy-node-1'), before)
    assert.deepEqual(cluster.client.sent.slice(sent), ['GET /api/v1/pods'])
  })

  test('runs without a mirror where the API allows none, and that is said once', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    cluster.client.failure = ({ method }) =>
      method === 'POST' ? new KubeApiError('pods is forbidden', { code: 403, reason: 'Forbidden' }) : undefined
    await using agent = await joinCluster(world, cluster)
    agent.setPods([createManifestPod('hash-1')])
    await agent.pass(600_000, 10_000)
    assert.deepEqual(running(world), ['main'])
    const tries = cluster.client.sent.filter((line) => line.startsWith('POST')).length
    assert.ok(tries > 3 && tries < 13, `${tries} tries`)
    assert.equal(agent.lines.filter(({ message }) => message.includes('mirror')).length, 1)
  })

  test('runs on, and starts, while there is no API at all', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    cluster.client.goAway()
    await using agent = await joinCluster(world, cluster)
    agent.setPods([createManifestPod('hash-1')])
    await agent.pass(20_000, 10_000)
    assert.deepEqual(running(world), ['main'])
    cluster.client.comeBack()
    await agent.pass(20_000, 10_000)
    assert.equal((await cluster.get('proxy-node-1'))?.status.phase, 'Running')
  })
})

test('a mirror that belongs to no static pod goes, and a pod that only has its name stays', async (t) => {
  await using world = await createWorld()
  const cluster = await createCluster(t, world)
  const metadata = { name: 'orphan', annotations: { [MIRROR]: 'x', [HASH]: 'x' } }
  const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.test/app:1' }] }
  await cluster.ask('POST', '/api/v1/namespaces/shop/pods', { body: { metadata, spec } })
  await cluster.create('proxy-node-1', { nodeName: 'node-1' })
  await using agent = await joinCluster(world, cluster)
  await agent.settle()
  assert.notEqual(await cluster.get('orphan'), undefined, 'the manifests are not read yet')
  agent.setPods([createManifestPod('hash-1')])
  await agent.pass(20_000, 10_000)
  assert.equal(await cluster.get('orphan'), undefined)
  assert.equal((await cluster.get('proxy-node-1'))?.metadata.annotations?.[MIRROR], undefined)
  assert.deepEqual(running(world), ['main', 'main'])
})
