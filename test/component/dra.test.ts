import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Dra } from '../../src/node/resource-claims/create-dra.ts'
import { HealthStatus } from '../../src/node/resource-claims/generated/dra-health-v1alpha1.ts'
import { FakePlugin } from '../fakes/fake-plugin.ts'
import { startAgent, until } from './create-agent.ts'
import { createClaimCluster, DRIVER, specWith } from './create-claim-cluster.ts'
import { changes, createWantedPod, createWorld, instanceOf, running } from './create-world.ts'
import type { World } from './create-agent.ts'

const CDI = 'vendor.example/device=gpu'

async function register({ drivers }: Dra, endpoint: string): Promise<void> {
  await drivers.register({ name: DRIVER, endpoint, versions: ['v1.DRAPlugin'] })
  await until(() => drivers.find(DRIVER)?.connected === true, 'the driver is connected')
}

function devicesOf(world: World): readonly string[] {
  const config = world.cri.runtime.containers.get(instanceOf(world))?.config
  return (config?.CDIDevices ?? []).map(({ name }) => name)
}

describe('a pod with a claim', () => {
  test('waits for its driver and says so, runs with its devices, and gives them back before it is gone', async (t) => {
    await using world = await createWorld()
    const {
      cluster,
      join: start,
      endpoint,
      driver: serve,
      claim,
      allocate,
      counted,
      files,
    } = await createClaimCluster(t, world)
    const driver = await serve()
    await claim('gpu')
    const uid = await cluster.create('web', specWith({ resourceClaimName: 'gpu' }))
    await allocate('gpu', uid)
    const { agent, dra } = await start()
    await using _ = agent
    await until(() => agent.reasons(uid).includes('FailedPrepareDynamicResources'), 'the pod has the event')
    await agent.settle()
    assert.match(
      agent.registry.explain().find((each) => each.uid === uid)?.why ?? '',
      /Waits for its devices: DRA driver gpu.example is not registered; next check in/,
    )
    assert.deepEqual(changes(world), [])
    await register(dra, endpoint)
    await until(() => running(world).length === 1, 'the pod runs')
    assert.deepEqual([driver.asked, devicesOf(world)], [['prepare gpu'], [CDI]])
    await agent.settle()
    assert.equal((await cluster.get('web'))?.status.phase, 'Running')

    driver.errors.set('gpu', 'in use')
    await cluster.delete('web', { gracePeriodSeconds: 1 })
    await until(() => driver.asked.length === 2, 'the claim is given back')
    await until(() => counted.at(-1) === 'UnprepareResources failed', 'which fails')
    await agent.settle()
    assert.deepEqual(
      [running(world), changes(world).some((change) => change.startsWith('stopContainer main'))],
      [[], true],
    )
    assert.match(
      agent.registry.explain().find((each) => each.uid === uid)?.why ?? '',
      /Is being ended \(deleted\): Waits until its devices are given back: .*in use/,
    )
    assert.equal((await cluster.get('web'))?.status.phase, 'Running', 'it is not reported as terminal')
    driver.errors.clear()
    await agent.pass(11_000, 5500)
    await until(() => counted.at(-1) === 'UnprepareResources ok', 'the claim is given back')
    await agent.pass(11_000, 5500)
    assert.equal(await cluster.get('web'), undefined)
    assert.deepEqual([driver.prepared.size, files.state.text?.includes('ClaimUID')], [0, false])
    assert.deepEqual(counted.filter((line) => line.startsWith('Prepare')).slice(-1), ['PrepareResources ok'])
  })

  test('that was made from a template runs as soon as the claim is known', async (t) => {
    await using world = await createWorld()
    const { cluster, join: start, endpoint, driver: serve, claim, allocate } = await createClaimCluster(t, world)
    const driver = await serve()
    const { agent, dra } = await start()
    await using _ = agent
    await register(dra, endpoint)
    const uid = await cluster.create('web', specWith({ resourceClaimTemplateName: 'template' }))
    await until(() => agent.reasons(uid).includes('FailedPrepareDynamicResources'), 'the pod has the event')
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid, controller: true }
    await claim('web-gpu', { ownerReferences: [owner] })
    await allocate('web-gpu', uid)
    const body = { status: { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'web-gpu' }] } }
    await cluster.ask('PATCH', '/api/v1/namespaces/shop/pods/web/status', {
      body,
      type: 'application/merge-patch+json',
    })
    await until(() => running(world).length === 1, 'the pod runs')
    assert.deepEqual([driver.asked, devicesOf(world)], [['prepare web-gpu'], ['vendor.example/device=web-gpu']])
  })

  test('keeps its devices across agents that are killed, also when a container starts again without API and driver', async (t) => {
    await using world = await createWorld()
    const { cluster, join: start, endpoint, driver: serve, claim, allocate } = await createClaimCluster(t, world)
    const driver = await serve()
    await claim('gpu')
    await allocate('gpu', await cluster.create('web', specWith({ resourceClaimName: 'gpu' })))
    const first = await start()
    await register(first.dra, endpoint)
    await until(() => running(world).length === 1, 'the pod runs')
    await first.agent.settle()
    await first.agent.die()
    const { agent } = await start()
    await using _ = agent
    await agent.settle()
    cluster.client.goAway()
    const before = instanceOf(world)
    world.cri.runtime.exit(before, 1)
    await agent.pass(12_000)
    await until(() => instanceOf(world) !== before, 'a new instance')
    assert.deepEqual([driver.asked, devicesOf(world)], [['prepare gpu'], [CDI]])
  })

  for (const isDeleted of [true, false])
    test(`that ${isDeleted ? 'is deleted' : 'vanishes'} while no agent runs has its devices given back by the next`, async (t) => {
      await using world = await createWorld()
      const { cluster, join: start, endpoint, driver: serve, claim, allocate } = await createClaimCluster(t, world)
      const driver = await serve()
      await claim('gpu')
      await allocate('gpu', await cluster.create('web', specWith({ resourceClaimName: 'gpu' })))
      const first = await start()
      await register(first.dra, endpoint)
      await until(() => running(world).length === 1, 'the pod runs')
      await first.agent.die()
      await cluster.delete('web', { gracePeriodSeconds: isDeleted ? 1 : 0 })
      if (!isDeleted) {
        // The machine was rebooted: the runtime does not know the pod either.
        world.cri.runtime.containers.clear()
        world.cri.runtime.sandboxes.clear()
      }
      const { agent, dra } = await start()
      await using _ = agent
      await register(dra, endpoint)
      await agent.pass(61_000, 30_500)
      await until(() => driver.prepared.size === 0, 'nothing stays prepared')
      assert.deepEqual([driver.asked.at(0), driver.asked.at(-1)], ['prepare gpu', 'unprepare gpu'])
    })

  test('shares it with another pod: it is given back with the last', async (t) => {
    await using world = await createWorld()
    const { cluster, join: start, endpoint, driver: serve, claim, allocate } = await createClaimCluster(t, world)
    const driver = await serve()
    await claim('gpu')
    const uids = [await cluster.create('one', specWith({ resourceClaimName: 'gpu' }))]
    uids.push(await cluster.create('two', specWith({ resourceClaimName: 'gpu' })))
    await allocate('gpu', ...uids)
    const { agent, dra } = await start()
    await using _ = agent
    await register(dra, endpoint)
    await until(() => running(world).length === 2, 'both run')
    await cluster.delete('one', { gracePeriodSeconds: 1 })
    await until(() => running(world).length === 1, 'one has ended')
    await agent.pass(11_000, 5500)
    assert.deepEqual(driver.asked, ['prepare gpu'])
    await cluster.delete('two', { gracePeriodSeconds: 1 })
    await until(() => driver.asked.at(-1) === 'unprepare gpu', 'it is given back')
  })

  test('reports the health of its devices', async (t) => {
    await using world = await createWorld()
    const { cluster, join: start, endpoint, driver: serve, claim, allocate } = await createClaimCluster(t, world)
    const driver = await serve({ hasHealth: true })
    await claim('gpu')
    await allocate('gpu', await cluster.create('web', specWith({ resourceClaimName: 'gpu' })))
    const { agent, dra } = await start()
    await using _ = agent
    await register(dra, endpoint)
    await until(() => driver.followers === 1, 'the agent watches the health')
    await until(() => running(world).length === 1, 'the pod runs')
    await agent.settle()
    const reported = async () => (await cluster.get('web'))?.status.containerStatuses?.[0]?.allocatedResourcesStatus
    assert.deepEqual(await reported(), [{ name: 'claim:gpu', resources: [{ resourceID: CDI, health: 'Unknown' }] }])
    const device = { poolName: 'pool', deviceName: 'device-0' }
    driver.reportHealth([
      { device, health: HealthStatus.UNHEALTHY, lastUpdatedTime: 0n, healthCheckTimeoutSeconds: 0n, message: 'hot' },
    ])
    const isUnhealthy = () =>
      dra.injections.health(createHealthPod(agent)).get('main')?.[0]?.resources?.[0]?.health === 'Unhealthy'
    await until(isUnhealthy, 'the driver is heard')
    await agent.settle()
    assert.deepEqual(await reported(), [
      { name: 'claim:gpu', resources: [{ resourceID: CDI, health: 'Unhealthy', message: 'hot' }] },
    ])
  })
})

function createHealthPod({ registry }: Awaited<ReturnType<typeof startAgent>>) {
  const [pod] = registry.activePods()
  if (pod === undefined) throw new Error('Cannot observe a pod: there is none')
  return pod
}

describe('claims', () => {
  test('are found again when their record is broken, and that is reported', async (t) => {
    await using world = await createWorld()
    const {
      cluster,
      join: start,
      endpoint,
      driver: serve,
      claim,
      allocate,
      files,
      nodeEvents,
    } = await createClaimCluster(t, world)
    const driver = await serve()
    await claim('gpu')
    await allocate('gpu', await cluster.create('web', specWith({ resourceClaimName: 'gpu' })))
    const first = await start()
    await register(first.dra, endpoint)
    await until(() => running(world).length === 1, 'the pod runs')
    await first.agent.die()
    files.state.text = files.state.text?.replace('gpu', 'cpu')
    const { agent, dra } = await start()
    await using _ = agent
    await register(dra, endpoint)
    await agent.pass(61_000, 30_500)
    await until(() => driver.asked.length === 2, 'the claim is prepared again')
    assert.deepEqual([nodeEvents, files.state.aside.length], [['StateFileSetAside'], 1])
    assert.deepEqual([driver.asked.at(-1), running(world)], ['prepare gpu', ['main']])
  })

  test('are not available on a node without an API: such a pod is rejected with the reason', async () => {
    await using world = await createWorld()
    await using agent = await startAgent(world)
    agent.setPods([createWantedPod('u-1', specWith({ resourceClaimName: 'gpu' }))])
    await agent.settle()
    const status = agent.statusOf('u-1')
    assert.deepEqual([status?.phase, status?.reason], ['Failed', 'UnsupportedField'])
    assert.match(status?.message ?? '', /spec.resourceClaims: this node has no API server/)
  })

  test('come from drivers that present themselves; devices of those that are away are not shown to the cluster', async (t) => {
    await using world = await createWorld()
    const { join: start, root, endpoint, driver: serve, publish, slices } = await createClaimCluster(t, world)
    await publish('old', 'node-1')
    await publish('foreign', 'node-2')
    const { agent, dra } = await start({ root, loops: ['plugins'] })
    await using _ = agent
    await agent.settle()
    assert.deepEqual(await slices(), ['foreign'], 'at the start no driver is there')
    await publish('mine', 'node-1')
    await publish('other', 'node-1', 'nic.example')
    const driver = await serve()
    const info = { type: 'DRAPlugin', name: DRIVER, endpoint, supportedVersions: ['v1.DRAPlugin'] }
    {
      using plugin = await FakePlugin.start(join(root, 'plugins_registry', 'driver-reg.sock'), info)
      await until(() => plugin.reported.length === 1, 'the driver is notified')
      assert.deepEqual(plugin.reported, [{ pluginRegistered: true, error: '' }])
      await until(() => dra.drivers.find(DRIVER)?.connected === true, 'the driver is connected')
      await agent.pass(60_000, 30_000)
      assert.equal((await slices()).length, 3)
    }
    await until(() => dra.drivers.find(DRIVER) === undefined, 'the driver is gone')
    await agent.pass(31_000, 15_500)
    assert.deepEqual((await slices()).toSorted(), ['foreign', 'other'])
    assert.deepEqual(driver.asked, [])
  })
})
