import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { CsiNode } from '../../src/node/csi/csi-node-object.ts'
import type { Node } from '../../src/model/generated/core-v1.ts'
import { FakeCsiDriver } from '../fakes/fake-csi-driver.ts'
import type { FakeCsiDriverOptions } from '../fakes/fake-csi-driver.ts'
import { until } from '../fakes/until.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import { startAgent } from './create-agent.ts'
import type { Agent } from './create-agent.ts'
import { createCluster, CSI_LOOPS, joinCluster } from './create-cluster.ts'
import { createWorld } from './create-world.ts'

const never = new AbortController().signal
const CSI_NODE = '/apis/storage.k8s.io/v1/csinodes/node-1'
const CSI_DRIVERS = '/apis/storage.k8s.io/v1/csidrivers'
const IDS = 'csi.volume.kubernetes.io/nodeid'

async function setUp(t: TestContext) {
  const world = await createWorld()
  const agents: Agent[] = []
  t.after(async () => {
    for (const agent of agents) await agent.leave()
    await world[Symbol.asyncDispose]()
  })
  const root = makeTemporaryFolder()
  const folder = join(root, 'plugins_registry')
  mkdirSync(folder)
  const cluster = await createCluster(t, world)
  const keep = (agent: Agent) => {
    agents.push(agent)
    return { csi: agent.kubelet.node.csi, end: () => agent.leave() }
  }
  const read = async <T>(path: string) => (await cluster.ask('GET', path)).body as T
  const csiNode = () => read<CsiNode>(CSI_NODE)
  const drivers = async () => ((await csiNode()).spec?.drivers ?? []).map(({ name }) => name)
  const ids = async () => (await read<Node>('/api/v1/nodes/node-1')).metadata?.annotations?.[IDS]
  return {
    cluster,
    csiNode,
    drivers,
    ids,
    read,
    /** An agent that takes drivers into use, and reports them. */
    join: async () => keep(await joinCluster(world, cluster, { root, loops: CSI_LOOPS })),
    /** One without a cluster. */
    startAlone: async () => keep(await startAgent(world, { root, loops: ['plugins'] })),
    startDriver: async (name: string, options: FakeCsiDriverOptions = {}) => {
      const driver = await FakeCsiDriver.start(join(folder, `${name}.sock`), { name, ...options })
      t.after(() => driver[Symbol.dispose]())
      return driver
    },
    /** Lets time pass too, for callers that wait before they try again. */
    becomes: async <T>(find: () => Promise<T>, wanted: T, ms = 0) => {
      for (;;) {
        const found = await find()
        if (JSON.stringify(found) === JSON.stringify(wanted)) return
        if (ms > 0) await world.clock.advance(ms)
        await setImmediate()
      }
    },
  }
}

describe('CSI drivers in their cluster', () => {
  test('a driver is reported when its socket appears, and no longer when it goes', async (t) => {
    const { cluster, csiNode, drivers, ids, read, becomes, ...world } = await setUp(t)
    const agent = await world.join()
    await becomes(async () => agent.csi.problems(), [])
    assert.deepEqual((await csiNode()).spec, { drivers: [] })
    const segments = { 'example.com/zone': 'x' }
    const driver = await world.startDriver('disk.example.com', { nodeId: 'n-7', maxVolumes: 3n, segments })
    await until(() => driver.reported.length === 1)
    assert.deepEqual(driver.reported, [{ pluginRegistered: true, error: '' }])
    const made = await csiNode()
    assert.deepEqual(made.spec.drivers, [
      {
        name: 'disk.example.com',
        nodeID: 'n-7',
        topologyKeys: ['example.com/zone'],
        allocatable: { count: 3 },
      },
    ])
    assert.deepEqual(made.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: cluster.nodeUid },
    ])
    const { metadata } = await read<Node>('/api/v1/nodes/node-1')
    assert.deepEqual([metadata?.annotations?.[IDS], metadata?.labels], ['{"disk.example.com":"n-7"}', segments])
    assert.equal(agent.csi.drivers.find('disk.example.com')?.nodeId, 'n-7')
    driver[Symbol.dispose]()
    await becomes(drivers, [])
    await becomes(ids, undefined)
    assert.equal(agent.csi.drivers.find('disk.example.com'), undefined)
  })

  test('a driver that says the node is elsewhere gets the reason why it is not taken', async (t) => {
    const { drivers, becomes, ...world } = await setUp(t)
    await world.join()
    const first = await world.startDriver('first', { segments: { zone: 'x' } })
    await until(() => first.reported.length === 1)
    const second = await world.startDriver('second', { segments: { zone: 'y' } })
    await until(() => second.reported.length === 1)
    const error =
      'Cannot report the topology of the node: the driver says "zone" is "y", and the label of the node says "x"'
    assert.deepEqual(second.reported, [{ pluginRegistered: false, error }])
    await becomes(drivers, ['first'])
  })

  test('an agent that is started again finds the drivers and writes nothing', async (t) => {
    const { cluster, drivers, ...world } = await setUp(t)
    const first = await world.join()
    const driver = await world.startDriver('disk')
    await until(() => driver.reported.length === 1)
    await first.end()
    assert.deepEqual(await drivers(), ['disk'])
    cluster.client.sent.length = 0
    const second = await world.join()
    await until(() => driver.reported.length === 2)
    assert.deepEqual(await drivers(), ['disk'])
    assert.deepEqual(second.csi.problems(), [])
    assert.deepEqual(
      cluster.client.sent.filter((request) => !request.startsWith('GET')),
      [],
    )
  })

  test('drivers that come and go while the API is away are used, and reported when it is back', async (t) => {
    const { cluster, drivers, ids, becomes, ...world } = await setUp(t)
    const agent = await world.join()
    const old = await world.startDriver('old')
    await until(() => old.reported.length === 1)
    await becomes(drivers, ['old'])
    cluster.client.goAway()
    const driver = await world.startDriver('new')
    await until(() => driver.reported.length === 1)
    assert.deepEqual(driver.reported, [{ pluginRegistered: true, error: '' }])
    assert.equal(agent.csi.drivers.find('new')?.name, 'new')
    old[Symbol.dispose]()
    await until(() => agent.csi.drivers.find('old') === undefined)
    assert.deepEqual(await drivers(), ['old'])
    cluster.client.comeBack()
    await becomes(drivers, ['new'], 1000)
    await becomes(ids, '{"new":"node-1"}')
  })

  test('an agent that starts without the API uses its drivers meanwhile', async (t) => {
    const { cluster, drivers, becomes, ...world } = await setUp(t)
    cluster.client.goAway()
    const agent = await world.join()
    const driver = await world.startDriver('disk')
    await until(() => driver.reported.length === 1)
    assert.equal(agent.csi.drivers.find('disk')?.name, 'disk')
    assert.deepEqual(agent.csi.problems(), ['CSINode is not yet initialized'])
    cluster.client.comeBack()
    await becomes(drivers, ['disk'], 1000)
    assert.deepEqual(agent.csi.problems(), [])
  })

  test('a Node that is created again gets everything reported again', async (t) => {
    const { cluster, csiNode, drivers, ids, read, becomes, ...world } = await setUp(t)
    await world.join()
    const driver = await world.startDriver('disk')
    await until(() => driver.reported.length === 1)
    await cluster.ask('DELETE', '/api/v1/nodes/node-1')
    await cluster.ask('POST', '/api/v1/nodes', { body: { metadata: { name: 'node-1' } } })
    const node = await read<Node>('/api/v1/nodes/node-1')
    cluster.seeNode(node)
    await becomes(ids, '{"disk":"node-1"}')
    await becomes(drivers, ['disk'])
    const uid = async () => (await csiNode()).metadata.ownerReferences?.[0]?.uid
    await becomes(uid, node.metadata?.uid)
  })

  test('CSIDriver objects are followed from the first driver on, also for how often to ask it', async (t) => {
    const { cluster, csiNode, becomes, ...world } = await setUp(t)
    const agent = await world.join()
    await becomes(async () => agent.csi.problems(), [])
    const isAsked = () => cluster.client.sent.includes(`GET ${CSI_DRIVERS}`)
    assert.equal(isAsked(), false)
    const spec = { attachRequired: false, nodeAllocatableUpdatePeriodSeconds: 60 }
    await cluster.ask('POST', CSI_DRIVERS, { body: { metadata: { name: 'disk' }, spec } })
    const driver = await world.startDriver('disk', { maxVolumes: 5n })
    await until(() => driver.reported.length === 1)
    const { attachRequired, allocatableUpdateSeconds } = await agent.csi.objects.find('disk', never)
    assert.deepEqual([isAsked(), attachRequired, allocatableUpdateSeconds], [true, false, 60])
    driver.maxVolumes = 4n
    const count = async () => (await csiNode()).spec.drivers?.[0]?.allocatable?.count
    await becomes(count, 4, 10_000)
    driver.maxVolumes = 3n
    await agent.csi.refreshAllocatable('disk', never)
    assert.equal(await count(), 3)
  })

  test('a node without an API uses drivers all the same', async (t) => {
    const world = await setUp(t)
    const agent = await world.startAlone()
    const driver = await world.startDriver('disk')
    await until(() => driver.reported.length === 1)
    assert.deepEqual(driver.reported, [{ pluginRegistered: true, error: '' }])
    assert.equal(agent.csi.drivers.find('disk')?.name, 'disk')
    assert.deepEqual(agent.csi.problems(), [])
    assert.equal((await agent.csi.objects.find('disk', never)).attachRequired, true)
    await agent.csi.refreshAllocatable('disk', never)
  })
})
