import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodSpec } from '../../src/model/generated/core-v1.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { startAgent } from './create-agent.ts'
import { createCluster, joinCluster } from './create-cluster.ts'
import type { Cluster } from './create-cluster.ts'
import type { FakeCriOptions } from '../fakes/fake-cri.ts'
import { createWantedContainer, createWantedPod, createWorld, running } from './create-world.ts'

const GRACE_MS = 30_000
const SMALL = { pods: '10', cpu: '1', memory: '1Gi' }
const PORT = { ports: [{ containerPort: 80, hostPort: 80 }] }
const CRITICAL = 2_000_000_000
const SLOW: FakeCriOptions = { programOf: () => ({ onTerm: 'ignore' }) }

/** A version of a static pod: each has its own UID, and all have the same name. */
function createVersion(uid: string, container: object = {}, name = 'proxy-node-1'): Pod {
  const spec = { containers: [createWantedContainer({ name: uid, ...container })] }
  return createWantedPod(uid, spec, name)
}

const asking = (uid: string, cpu: string, spec: Partial<PodSpec> = {}) =>
  createWantedPod(uid, {
    containers: [createWantedContainer({ name: uid, resources: { requests: { cpu } } })],
    ...spec,
  })

describe('a static pod that is replaced', () => {
  test('gets the host port of its predecessor, when that has ended', async () => {
    await using world = await createWorld(SLOW)
    await using agent = await startAgent(world)
    agent.setPods([createVersion('one', PORT)])
    await agent.settle()
    agent.setPods([createVersion('two', PORT)])
    await agent.pass(GRACE_MS / 2)
    assert.deepEqual([running(world), agent.statusOf('two')?.phase], [['one'], 'Pending'])
    await agent.pass(GRACE_MS)
    assert.deepEqual([running(world), agent.statusOf('two')?.phase], [['two'], 'Running'])
    assert.equal(agent.reasons('two').includes('NodePorts'), false)
  })

  test('gets its room too: both versions never count together', async () => {
    await using world = await createWorld(SLOW)
    await using agent = await startAgent(world, { allocatable: SMALL, sources: ['file', 'api'] })
    const large = { resources: { requests: { cpu: '600m' } } }
    agent.setPods([], 'api')
    agent.setPods([createVersion('one', large)])
    await agent.settle()
    agent.setPods([createVersion('two', large)])
    agent.setPods([asking('other', '400m')], 'api')
    await agent.pass(GRACE_MS * 2)
    assert.deepEqual(running(world), ['other', 'two'])
  })

  test('is judged when the name is free, and shows why it may not run', async () => {
    await using world = await createWorld(SLOW)
    await using agent = await startAgent(world, { allocatable: SMALL })
    agent.setPods([createVersion('one')])
    await agent.settle()
    const tooLarge = { resources: { requests: { cpu: '2' } } }
    agent.setPods([createVersion('two', tooLarge)])
    await agent.pass(GRACE_MS / 2)
    assert.equal(agent.statusOf('two')?.phase, 'Pending')
    await agent.pass(GRACE_MS)
    const { phase, reason } = agent.statusOf('two') ?? {}
    assert.deepEqual([phase, reason, agent.workers.size], ['Failed', 'UnexpectedAdmissionError', 0])
    agent.setPods([createVersion('three')])
    await agent.settle()
    assert.deepEqual(running(world), ['three'])
  })
})

describe('a static pod that was rejected', () => {
  test('runs when the host port is free', async () => {
    await using world = await createWorld(SLOW)
    await using agent = await startAgent(world)
    agent.setPods([createVersion('one', PORT)])
    await agent.settle()
    agent.setPods([createVersion('two', PORT, 'renamed-node-1')])
    await agent.pass(GRACE_MS / 2)
    assert.deepEqual([agent.statusOf('two')?.phase, agent.statusOf('two')?.reason], ['Failed', 'NodePorts'])
    await agent.pass(GRACE_MS)
    assert.deepEqual([running(world), agent.statusOf('two')?.phase], [['two'], 'Running'])
    assert.equal(agent.reasons('two').filter((reason) => reason === 'NodePorts').length, 1)
  })

  test('runs when there is room: another was removed, has finished, or became smaller', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, { allocatable: SMALL, sources: ['file', 'api'] })
    const critical = { priority: CRITICAL }
    const fillers = [
      asking('a', '600m', critical),
      asking('b', '600m', critical),
      asking('c', '600m', critical),
    ] as const
    for (const filler of fillers) {
      const waiting = asking(`for-${filler.metadata.uid}`, '600m')
      agent.setPods([], 'file')
      agent.setPods([filler], 'api')
      await agent.pass(5000)
      agent.setPods([waiting], 'file')
      await agent.settle()
      assert.equal(agent.statusOf(waiting.metadata.uid)?.reason, 'UnexpectedAdmissionError')
      if (filler === fillers[0]) agent.setPods([], 'api')
      if (filler === fillers[1]) agent.setPods([{ ...filler, status: { phase: 'Succeeded' } }], 'api')
      if (filler === fillers[2]) agent.setPods([asking('c', '300m', critical)], 'api')
      await agent.settle()
      assert.equal(agent.statusOf(waiting.metadata.uid)?.phase, 'Running', filler.metadata.uid)
    }
  })

  test('runs when its node has the label, and its mirror pod shows it', async (t) => {
    await using world = await createWorld()
    const cluster = await createCluster(t, world)
    await using agent = await joinCluster(world, cluster)
    const pod = createVersion('one')
    const spec = { ...pod.spec, nodeName: 'node-1', enableServiceLinks: true, nodeSelector: { disk: 'fast' } }
    const annotations = { 'kubernetes.io/config.hash': 'one' }
    agent.setPods([{ metadata: { ...pod.metadata, annotations }, spec, status: { phase: 'Pending' } }])
    await agent.settle()
    const rejected = await cluster.get('proxy-node-1')
    assert.deepEqual([rejected?.status.phase, rejected?.status.reason], ['Failed', 'NodeAffinity'])
    cluster.labelNode({ disk: 'slow' })
    await agent.settle()
    assert.deepEqual(running(world), [])
    cluster.labelNode({ disk: 'fast' })
    await agent.pass(1000)
    const { metadata, status } = (await cluster.get('proxy-node-1')) ?? {}
    assert.deepEqual([status?.phase, status?.reason, metadata?.uid], ['Running', undefined, rejected?.metadata.uid])
    assert.equal(agent.reasons('one').filter((reason) => reason === 'NodeAffinity').length, 1)
  })

  test('runs when its manifest asks for less under the same UID', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, { allocatable: SMALL })
    agent.setPods([asking('u-1', '2')])
    await agent.settle()
    assert.equal(agent.statusOf('u-1')?.phase, 'Failed')
    agent.setPods([asking('u-1', '500m')])
    await agent.settle()
    assert.equal(agent.statusOf('u-1')?.phase, 'Running')
  })

  test('is not tried again when it comes from the API: its cluster replaces it', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world, { allocatable: SMALL, sources: ['file', 'api'] })
    agent.setPods([asking('u-1', '600m')])
    agent.setPods([asking('u-2', '600m')], 'api')
    await agent.settle()
    assert.equal(agent.statusOf('u-2')?.reason, 'OutOfcpu')
    agent.setPods([])
    await agent.pass(10_000)
    assert.equal(agent.statusOf('u-2')?.reason, 'OutOfcpu')
  })
})

describe('a static pod bears what drives others away, and what keeps them out', () => {
  const spec = { taints: [{ key: 'example.com/gone', effect: 'NoExecute' }] }
  type Break = (cluster: Cluster, agent: Awaited<ReturnType<typeof joinCluster>>) => unknown
  const rows: readonly (readonly [name: string, breakNode: Break, reason: string])[] = [
    [
      'a taint that it does not tolerate',
      async (cluster) => {
        const { metadata } = cluster.node()
        // Also in the API: before it rejects a pod for a taint, the agent reads the Node again.
        await cluster.ask('PUT', '/api/v1/nodes/node-1', { body: { metadata: { name: 'node-1' }, spec } })
        cluster.seeNode({ ...(metadata && { metadata }), spec })
      },
      'TaintToleration',
    ],
    [
      'a disk that is nearly full',
      (_, agent) => agent.kubelet.node.pressure.set({ memory: false, disk: true, pid: false }),
      'Evicted',
    ],
  ]
  for (const [name, breakNode, reason] of rows)
    test(name, async (t) => {
      await using world = await createWorld()
      const cluster = await createCluster(t, world)
      await using agent = await joinCluster(world, cluster)
      await agent.settle()
      await breakNode(cluster, agent)
      const uid = await cluster.create('of-api')
      agent.setPods([createVersion('one')])
      await agent.pass(1000)
      assert.deepEqual([agent.statusOf(uid)?.phase, agent.statusOf(uid)?.reason], ['Failed', reason])
      assert.deepEqual([running(world), agent.statusOf('one')?.phase], [['one'], 'Running'])
    })
})

test('a pod that was deleted by force has given its room and its port away', async () => {
  await using world = await createWorld(SLOW)
  await using agent = await startAgent(world, { allocatable: SMALL, sources: ['api'] })
  const large = { ...PORT, resources: { requests: { cpu: '600m' } } }
  agent.setPods([createVersion('one', large)], 'api')
  await agent.settle()
  agent.setPods([createVersion('two', large)], 'api')
  await agent.settle()
  assert.deepEqual([running(world), agent.statusOf('two')?.phase], [['one', 'two'], 'Running'])
})
