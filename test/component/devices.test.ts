import assert from 'node:assert/strict'
import { mkdirSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { DEVICES_ANNOTATION } from '../../src/model/pod/devices-annotation.ts'
import type { Container } from '../../src/model/generated/core-v1.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { parseDeviceCheckpoint } from '../../src/node/devices/device-checkpoint-file.ts'
import { FakeDevicePlugin } from '../fakes/fake-device-plugin.ts'
import type { FakeDevicePluginOptions } from '../fakes/fake-device-plugin.ts'
import { startAgent, until } from './create-agent.ts'
import type { Agent, AgentOptions, World } from './create-agent.ts'
import { createWantedContainer, createWantedPod, createWorld } from './create-world.ts'

const GPU = 'example.com/gpu'

/** The folder of sockets, and plugins in it that end with the test. */
function createFolder(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'devices-'))
  t.after(() => rmSync(root, { recursive: true }))
  const folder = join(root, 'device-plugins')
  mkdirSync(folder)
  return {
    folder,
    startPlugin: async (options: Omit<FakeDevicePluginOptions, 'folder'> = {}) => {
      const plugin = await FakeDevicePlugin.start({ folder, ...options })
      t.after(() => plugin[Symbol.dispose]())
      return plugin
    },
  }
}

async function startWithDevices(world: World, folder: string, options: AgentOptions = {}): Promise<Agent> {
  const agent = await startAgent(world, { root: dirname(folder), loops: ['devices'], ...options })
  await until(() => existsSync(join(folder, 'kubelet.sock')), 'the socket of the agent')
  return agent
}

/** An agent that is killed once its pods run. */
async function runBefore<T>(world: World, folder: string, work: (agent: Agent) => Promise<T>): Promise<T> {
  const agent = await startWithDevices(world, folder)
  try {
    return await work(agent)
  } finally {
    await agent.die()
    // The next one makes its own; until then there is none.
    rmSync(join(folder, 'kubelet.sock'), { force: true })
  }
}

/** Waits until the agent knows the plugin's devices. */
async function present(agent: Agent, plugin: FakeDevicePlugin, count = 2): Promise<void> {
  await plugin.register()
  await until(() => agent.devices.info().allocatable.get(plugin.resource) === count, 'the devices of the plugin')
}

function desired(count: number, parts: Partial<Container> = {}): Container {
  const amounts = { [GPU]: `${count}` }
  return createWantedContainer({ resources: { limits: amounts, requests: amounts }, ...parts })
}

function createGpuPod(uid: string, count = 1): Pod {
  return createWantedPod(uid, { containers: [desired(count)] })
}

function configOf(world: World, container = 'main', uid = 'u-1') {
  const request = world.cri
    .requests('createContainer')
    .findLast(({ config }) => config?.metadata?.name === container && config.labels['io.kubernetes.pod.uid'] === uid)
  const config = request?.config
  return { config, variables: config?.envs.map(({ key, value }) => `${key}=${Buffer.from(value).toString()}`) }
}

const isRunning = (agent: Agent, uid: string) => agent.statusOf(uid)?.phase === 'Running'
const healthOf = (agent: Agent, uid = 'u-1') =>
  agent
    .statusOf(uid)
    ?.containerStatuses?.[0]?.allocatedResourcesStatus?.flatMap(({ resources = [] }) =>
      resources.map(({ resourceID, health }) => `${resourceID} ${health}`),
    )
const endOf = (agent: Agent, uid = 'u-1') => {
  const { phase, reason, message } = agent.statusOf(uid) ?? {}
  return [phase, reason, message]
}
const whyOf = (agent: Agent, uid: string) =>
  agent.registry.explain().find((explanation) => explanation.uid === uid)?.why ?? ''
const recordedIn = ({ deviceFile }: World) =>
  parseDeviceCheckpoint(deviceFile.text ?? '').entries.map(
    ({ uid, container, byNode }) => `${uid} ${container} ${[...byNode.values()].flat().toSorted().join(' ')}`,
  )

describe('devices of containers', () => {
  test('come with all that their plugin says, belong to one pod, and are free when it is gone', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    await using agent = await startWithDevices(world, folder)
    const plugin = await startPlugin({
      ids: ['a'],
      allocation: (ids) => ({
        envs: { GPU: ids.join(',') },
        mounts: [{ containerPath: '/lib/gpu', hostPath: '/opt/gpu', readOnly: true }],
        devices: [{ containerPath: '/dev/gpu', hostPath: '/dev/gpu0', permissions: 'rw' }],
        annotations: { 'example.com/note': 'x' },
        cdiDevices: [{ name: 'example.com/gpu=a' }],
      }),
    })
    await present(agent, plugin, 1)
    agent.setPods([createGpuPod('u-1')])
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    const { config, variables } = configOf(world)
    assert.deepEqual(variables, ['GPU=a'])
    assert.deepEqual(
      config?.mounts.slice(0, 1).map(({ hostPath, containerPath, readonly }) => [hostPath, containerPath, readonly]),
      [['/opt/gpu', '/lib/gpu', true]],
    )
    assert.deepEqual(config?.devices, [{ containerPath: '/dev/gpu', hostPath: '/dev/gpu0', permissions: 'rw' }])
    assert.deepEqual(config?.CDIDevices, [{ name: 'example.com/gpu=a' }])
    assert.equal(config?.annotations['example.com/note'], 'x')
    assert.equal(config?.annotations[DEVICES_ANNOTATION], '{"example.com/gpu":["a"]}')
    assert.deepEqual(healthOf(agent), ['a Healthy'])
    assert.deepEqual(recordedIn(world), ['u-1 main a'])
    assert.deepEqual(agent.devices.devicesOf(createGpuPod('u-1').metadata.uid, 'main'), [
      { resourceName: GPU, deviceIds: ['a'] },
    ])

    agent.setPods([createGpuPod('u-1'), createGpuPod('u-2')])
    await until(() => agent.statusOf('u-2')?.phase === 'Failed', 'the second pod is rejected')
    const why = `requested number of devices unavailable for ${GPU}. Requested: 1, Available: 0`
    assert.deepEqual(endOf(agent, 'u-2'), [
      'Failed',
      'UnexpectedAdmissionError',
      `Pod was rejected: Allocate failed due to ${why}, which is unexpected`,
    ])
    agent.setPods([])
    await agent.pass(6000)
    agent.setPods([createGpuPod('u-3')])
    await until(() => isRunning(agent, 'u-3'), 'the third pod runs')
    assert.deepEqual(plugin.asked, ['options', 'list', 'allocate a', 'allocate a'])
    await until(() => recordedIn(world).join() === 'u-3 main a', 'the record')
    assert.deepEqual(
      agent.counted.filter((line) => line.endsWith(GPU)),
      [`registered ${GPU}`, `allocated ${GPU}`, `allocated ${GPU}`],
    )
  })

  test('are reported as ignored when they are CDI devices and the runtime has no CDI', async (t) => {
    await using world = await createWorld({ version: { name: 'containerd', version: '1.6.20' } })
    const { folder, startPlugin } = createFolder(t)
    await using agent = await startWithDevices(world, folder)
    const plugin = await startPlugin({
      ids: ['a'],
      allocation: () => ({ cdiDevices: [{ name: 'example.com/gpu=a' }] }),
    })
    await present(agent, plugin, 1)
    agent.setPods([createGpuPod('u-1')])
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    const event = agent.events.find(({ reason }) => reason === 'CDIDevicesIgnored')
    assert.match(event?.message ?? '', /example\.com\/gpu=a.*containerd has it from 1\.7 on/)
  })

  test('hold up their own pod only while the plugin does not answer, and say so', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    await using agent = await startWithDevices(world, folder)
    const plugin = await startPlugin()
    await present(agent, plugin)
    plugin.hung.add('allocate')
    agent.setPods([createGpuPod('u-1'), createWantedPod('plain')])
    await until(() => isRunning(agent, 'plain'), 'the other pod runs')
    await until(() => plugin.asked.includes('allocate a'), 'the plugin is asked')
    assert.match(whyOf(agent, 'u-1'), /^devices "example\.com\/gpu" of container "main" from their plugin, for /v)
    // A change of the pod does not make the agent ask the plugin again.
    agent.registry.wake(createGpuPod('u-1').metadata.uid)
    await agent.settle()
    plugin.letGo()
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    assert.deepEqual(plugin.asked, ['options', 'list', 'allocate a'])
  })

  test('end their pod when the plugin refuses them, and are free again', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    await using agent = await startWithDevices(world, folder)
    const plugin = await startPlugin({ ids: ['a'] })
    await present(agent, plugin, 1)
    plugin.failing.set('allocate', 'on fire')
    agent.setPods([createGpuPod('u-1')])
    await until(() => agent.statusOf('u-1')?.phase === 'Failed', 'the pod ends')
    const why = 'Allocate failed due to rpc error: code = Unknown desc = on fire, which is unexpected'
    assert.deepEqual(endOf(agent), ['Failed', 'UnexpectedAdmissionError', `Pod was rejected: ${why}`])
    assert.deepEqual(agent.reasons(), ['UnexpectedAdmissionError'])
    plugin.failing.clear()
    agent.setPods([createGpuPod('u-1'), createGpuPod('u-2')])
    await until(() => isRunning(agent, 'u-2'), 'the next pod runs')
    assert.deepEqual(recordedIn(world), ['u-2 main a'])
  })

  test('are no longer in the capacity of the node without their plugin, but pods keep theirs', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    await using agent = await startWithDevices(world, folder)
    const { mock: node } = t.mock.method(agent.kubelet.node.own, 'wake')
    const plugin = await startPlugin()
    await present(agent, plugin)
    agent.setPods([createGpuPod('u-1')])
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    const before = node.callCount()
    const counts = () => {
      const { capacity, allocatable } = agent.devices.info()
      return [capacity.get(GPU), allocatable.get(GPU)]
    }
    assert.deepEqual(counts(), [2, 2])
    plugin[Symbol.dispose]()
    await until(() => counts().join() === '2,0', 'nothing to give')
    assert.ok(node.callCount() > before)
    agent.setPods([createGpuPod('u-1'), createGpuPod('u-2')])
    await until(() => agent.statusOf('u-2')?.phase === 'Failed', 'a new pod is rejected')
    assert.match(endOf(agent, 'u-2')[2] ?? '', /no healthy devices present; cannot allocate unhealthy devices/v)
    world.cri.exitContainer([...world.cri.runtime.containers.keys()][0] ?? '', 1)
    await agent.pass(20_000)
    await until(() => isRunning(agent, 'u-1'), 'the pod runs again')
    assert.deepEqual(configOf(world).variables, ['DEVICES=a'])
    await agent.pass(301_000, 50_000)
    assert.deepEqual(counts(), [0, 0])
    await until(() => healthOf(agent)?.join() === 'a Unknown', 'the health of the device is unknown')
    assert.ok(isRunning(agent, 'u-1'))

    const again = await startPlugin()
    await present(agent, again)
    await until(() => healthOf(agent)?.join() === 'a Healthy', 'the device is well')
    assert.deepEqual(
      [counts(), again.asked],
      [
        [2, 2],
        ['options', 'list'],
      ],
    )
  })

  test('stay with a pod when the agent dies, and the plugin is not asked again', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    await runBefore(world, folder, async (agent) => {
      await present(agent, await startPlugin({ ids: ['a'] }), 1)
      agent.setPods([createGpuPod('u-1')])
      await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    })
    const made = world.cri.requests('createContainer').length
    await using agent = await startWithDevices(world, folder)
    assert.deepEqual([...agent.devices.info().capacity], [[GPU, 0]])
    agent.setPods([createGpuPod('u-1')])
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    const second = await startPlugin({ ids: ['a'], endpoint: 'again.sock' })
    await present(agent, second, 1)
    agent.setPods([createGpuPod('u-1'), createGpuPod('u-2')])
    await until(() => agent.statusOf('u-2')?.phase === 'Failed', 'the device is taken')
    assert.deepEqual(second.asked, ['options', 'list'])
    assert.equal(world.cri.requests('createContainer').length, made)
  })

  test('are waited for when the machine was rebooted, and the pod has the same again', async (t) => {
    const { folder, startPlugin } = createFolder(t)
    await using before = await createWorld()
    await runBefore(before, folder, async (agent) => {
      await present(agent, await startPlugin())
      agent.setPods([createGpuPod('u-1')])
      await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    })
    await using world = { ...(await createWorld()), deviceFile: before.deviceFile }
    await using agent = await startWithDevices(world, folder)
    agent.setPods([createGpuPod('u-1')])
    await until(() => whyOf(agent, 'u-1').startsWith('wait for device plugin "example.com/gpu"'), 'the pod waits')
    const plugin = await startPlugin({ endpoint: 'again.sock' })
    await present(agent, plugin)
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    assert.deepEqual([plugin.asked, configOf(world).variables], [['options', 'list'], ['DEVICES=a']])
  })

  test('end a pod of before whose plugin does not come back, or whose devices are ill', async (t) => {
    const { folder, startPlugin } = createFolder(t)
    await using before = await createWorld()
    await runBefore(before, folder, async (agent) => {
      await present(agent, await startPlugin())
      agent.setPods([createGpuPod('u-1'), createGpuPod('u-2')])
      await until(() => isRunning(agent, 'u-1') && isRunning(agent, 'u-2'), 'the pods run')
    })
    const record = before.deviceFile.text
    for (const [returns, why] of [
      [false, `no healthy devices present; cannot allocate unhealthy devices ${GPU}`],
      [true, `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${GPU}`],
    ] as const) {
      await using world = await createWorld()
      world.deviceFile.text = record
      rmSync(join(folder, 'kubelet.sock'), { force: true })
      await using agent = await startWithDevices(world, folder)
      agent.setPods([createGpuPod('u-1')])
      await until(() => whyOf(agent, 'u-1').startsWith('wait for device plugin'), 'the pod waits')
      if (returns) {
        const plugin = await startPlugin({ endpoint: 'ill.sock' })
        plugin.setDevices([{ id: 'a', health: 'Unhealthy' }, { id: 'b' }])
        await plugin.register()
      } else await agent.pass(50_000, 5000)
      await until(() => agent.statusOf('u-1')?.phase === 'Failed', 'the pod ends')
      assert.deepEqual(endOf(agent), [
        'Failed',
        'UnexpectedAdmissionError',
        `Pod was rejected: Allocate failed due to ${why}, which is unexpected`,
      ])
      assert.deepEqual(agent.reasons(), ['DevicePluginNotRegistered', 'UnexpectedAdmissionError'])
    }
  })

  test('are given again to a static pod that ended without its plugin, when that is back, by this agent or the next', async (t) => {
    const { folder, startPlugin } = createFolder(t)
    await using before = await createWorld()
    await runBefore(before, folder, async (agent) => {
      await present(agent, await startPlugin())
      agent.setPods([createGpuPod('u-1')])
      await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    })
    const record = before.deviceFile.text
    for (const isNext of [false, true]) {
      await using world = await createWorld()
      world.deviceFile.text = record
      rmSync(join(folder, 'kubelet.sock'), { force: true })
      const waitInVain = async (agent: Agent) => {
        agent.setPods([createGpuPod('u-1')])
        await until(() => whyOf(agent, 'u-1').startsWith('wait for device plugin'), 'the pod waits')
        await agent.pass(60_000, 5000)
        await until(() => agent.statusOf('u-1')?.phase === 'Failed', 'the pod ends')
      }
      if (isNext) await runBefore(world, folder, waitInVain)
      await using agent = await startWithDevices(world, folder)
      if (isNext) agent.setPods([createGpuPod('u-1')])
      else await waitInVain(agent)
      const plugin = await startPlugin({ endpoint: 'late.sock' })
      await present(agent, plugin)
      await until(() => isRunning(agent, 'u-1'), 'the pod runs')
      assert.equal(agent.statusOf('u-1')?.reason, undefined)
    }
  })

  test('are asked for again for a static pod whose plugin fails, with a pause', async (t) => {
    const { folder, startPlugin } = createFolder(t)
    await using world = await createWorld()
    await using agent = await startWithDevices(world, folder)
    let failures = 2
    const plugin = await startPlugin({
      allocation: () => {
        if (failures > 0) {
          failures -= 1
          throw new Error('not now')
        }
        return {}
      },
    })
    await present(agent, plugin)
    agent.setPods([createGpuPod('u-1')])
    await until(() => agent.statusOf('u-1')?.phase === 'Failed', 'the pod is rejected')
    await agent.pass(5000)
    assert.deepEqual([failures, agent.statusOf('u-1')?.phase], [1, 'Failed'])
    await agent.pass(25_000, 5000)
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
  })

  test('end a pod of before that may not start again at once, when their plugin is not back', async (t) => {
    const { folder, startPlugin } = createFolder(t)
    await using before = await createWorld()
    const pod = createWantedPod('u-1', { restartPolicy: 'Never', containers: [desired(1)] })
    const left = await runBefore(before, folder, async (agent) => {
      await present(agent, await startPlugin())
      agent.setPods([pod])
      await until(() => isRunning(agent, 'u-1'), 'the pod runs')
      return agent.statusOf('u-1')
    })
    await using world = await createWorld()
    world.deviceFile.text = before.deviceFile.text
    await using agent = await startWithDevices(world, folder)
    agent.setPods([{ ...pod, status: left }])
    await until(() => agent.statusOf('u-1')?.reason !== undefined, 'the pod is rejected')
    const why = `no healthy devices present; cannot allocate unhealthy devices ${GPU}`
    assert.deepEqual(endOf(agent), [
      'Failed',
      'UnexpectedAdmissionError',
      `Pod was rejected: Allocate failed due to ${why}, which is unexpected`,
    ])
    assert.deepEqual(agent.reasons(), ['UnexpectedAdmissionError'])
  })

  test('are in no container before they are recorded', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    await using agent = await startWithDevices(world, folder)
    const plugin = await startPlugin()
    await present(agent, plugin)
    world.deviceFile.failure = new Error('disk full')
    agent.setPods([createGpuPod('u-1')])
    const why = 'Waits for its devices: Cannot record which devices the pod has'
    await until(() => whyOf(agent, 'u-1').startsWith(why), 'the pod waits')
    await agent.pass(20_000, 5000)
    assert.ok(whyOf(agent, 'u-1').startsWith(why))
    assert.deepEqual(world.cri.requests('runPodSandbox'), [])
    world.deviceFile.failure = undefined
    await agent.pass(20_000, 5000)
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    assert.deepEqual([plugin.asked, recordedIn(world)], [['options', 'list', 'allocate a'], ['u-1 main a']])
  })

  test('are known from what runs when the record of them is broken', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    await runBefore(world, folder, async (agent) => {
      await present(agent, await startPlugin())
      agent.setPods([createGpuPod('u-1')])
      await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    })
    world.deviceFile.text = world.deviceFile.text?.replace('"a"', '"x"')
    await using agent = await startWithDevices(world, folder)
    assert.deepEqual([agent.nodeEvents, agent.counted], [['StateFileSetAside'], ['set aside state']])
    assert.equal(world.deviceFile.aside.length, 1)
    agent.setPods([createGpuPod('u-1')])
    const plugin = await startPlugin({ endpoint: 'again.sock' })
    await present(agent, plugin)
    agent.setPods([createGpuPod('u-1'), createGpuPod('u-2')])
    await until(() => isRunning(agent, 'u-2'), 'the other device is given')
    assert.deepEqual(plugin.asked, ['options', 'list', 'allocate b'])
    // The one that runs needs to know more of its device only when it starts again.
    world.cri.exitContainer([...world.cri.runtime.containers.keys()][0] ?? '', 1)
    await agent.pass(20_000)
    await until(() => plugin.asked.includes('allocate a'), 'the plugin is asked for the same device')
    await until(() => recordedIn(world).join() === 'u-1 main a,u-2 main b', 'the record')
  })

  test('are ill in the status of their pod as soon as the plugin says so', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    await using agent = await startWithDevices(world, folder)
    const plugin = await startPlugin()
    await present(agent, plugin)
    agent.setPods([createGpuPod('u-1')])
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    plugin.setDevices([{ id: 'a', health: 'Unhealthy' }, { id: 'b' }])
    await until(() => healthOf(agent)?.join() === 'a Unhealthy', 'the device is ill')
    assert.deepEqual(agent.devices.info().allocatable.get(GPU), 1)
  })

  test('of init containers are used again, those of sidecars are not', async (t) => {
    await using world = await createWorld({
      programOf: ({ metadata }) => (metadata?.name === 'prepare' ? { exitsAfterMs: 10 } : {}),
    })
    const { folder, startPlugin } = createFolder(t)
    await using agent = await startWithDevices(world, folder)
    const plugin = await startPlugin({ ids: ['a', 'b', 'c'] })
    await present(agent, plugin, 3)
    const initContainers = [desired(2, { name: 'prepare' }), desired(1, { name: 'beside', restartPolicy: 'Always' })]
    agent.setPods([createWantedPod('u-1', { initContainers, containers: [desired(2)] })])
    await agent.pass(5000)
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    assert.deepEqual(recordedIn(world), ['u-1 beside a', 'u-1 main b c', 'u-1 prepare a b'])
  })

  test('are prepared before each start where the plugin wants that', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    await using agent = await startWithDevices(world, folder)
    const plugin = await startPlugin({ options: { preStartRequired: true } })
    await present(agent, plugin)
    plugin.failing.set('preStart', 'not now')
    agent.setPods([createGpuPod('u-1', 2)])
    const waiting = () => agent.statusOf('u-1')?.containerStatuses?.[0]?.state?.waiting
    await until(() => waiting()?.reason === 'CreateContainerConfigError', 'the container waits')
    assert.match(waiting()?.message ?? '', /PreStartContainer.*not now/v)
    plugin.failing.clear()
    await agent.pass(20_000)
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    assert.deepEqual(new Set(plugin.asked), new Set(['options', 'list', 'allocate a b', 'preStart a b']))
  })

  test('are those that the plugin prefers; a pod that was about to get them gets others', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    await using agent = await startWithDevices(world, folder)
    const plugin = await startPlugin({ ids: ['a', 'b', 'c'], options: { getPreferredAllocationAvailable: true } })
    await present(agent, plugin, 3)
    plugin.preferred = ['b']
    agent.setPods([createGpuPod('u-1'), createGpuPod('u-2')])
    await until(() => isRunning(agent, 'u-1') && isRunning(agent, 'u-2'), 'the pods run')
    assert.deepEqual(['u-1', 'u-2'].flatMap((uid) => configOf(world, 'main', uid).variables ?? []).toSorted(), [
      'DEVICES=a',
      'DEVICES=b',
    ])
  })

  test('lie where all that the container gets can lie, as strictly as the policy says', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    await using agent = await startWithDevices(world, folder, { flags: ['--topology-manager-policy=single-numa-node'] })
    const gpus = await startPlugin()
    gpus.setDevices([
      { id: 'a', nodes: [0] },
      { id: 'b', nodes: [1] },
    ])
    await present(agent, gpus)
    const nics = await startPlugin({ resource: 'example.com/nic', endpoint: 'nic.sock' })
    nics.setDevices([{ id: 'n', nodes: [1] }])
    await present(agent, nics, 1)
    const limits = { [GPU]: '1', [nics.resource]: '1' }
    const both = [createWantedContainer({ resources: { limits, requests: limits } })]
    agent.setPods([createWantedPod('u-1', { containers: both })])
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    assert.deepEqual(gpus.asked.at(-1), 'allocate b')
    agent.setPods([createWantedPod('u-1', { containers: both }), createGpuPod('u-2', 2)])
    await until(() => agent.statusOf('u-2')?.phase === 'Failed', 'no node has two')
    assert.equal(agent.statusOf('u-2')?.reason, 'TopologyAffinityError')
  })

  test('are chosen without the plugin when it does not say which it prefers', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    await using agent = await startWithDevices(world, folder)
    const plugin = await startPlugin({ options: { getPreferredAllocationAvailable: true } })
    await present(agent, plugin)
    plugin.hung.add('prefer')
    agent.setPods([createGpuPod('u-1')])
    await until(() => plugin.asked.includes('prefer 1 of a,b'), 'the plugin is asked')
    await agent.pass(6000)
    await until(() => isRunning(agent, 'u-1'), 'the pod runs')
    assert.deepEqual(plugin.asked.at(-1), 'allocate a')
  })

  test('come from plugins that present themselves well; sockets of before are removed, and nothing else', async (t) => {
    await using world = await createWorld()
    const { folder, startPlugin } = createFolder(t)
    const old = await startPlugin({ endpoint: 'old.sock' })
    writeFileSync(join(folder, 'notes'), 'x')
    await using agent = await startWithDevices(world, folder)
    await until(() => !existsSync(old.socketPath), 'the socket of before is gone')
    assert.deepEqual([existsSync(join(folder, 'notes')), existsSync(join(folder, 'kubelet.sock'))], [true, true])
    const plugin = await startPlugin()
    await assert.rejects(
      plugin.register({ version: 'v1alpha1' }),
      /requested API version "v1alpha1" is not supported by kubelet\. Supported version is \["v1beta1"\]/v,
    )
    await assert.rejects(plugin.register({ resource: 'cpu' }), /the ResourceName "cpu" is invalid/v)
    plugin.failing.set('options', 'not today')
    await assert.rejects(plugin.register(), /failed to get device plugin options: .*not today/v)
    plugin.failing.clear()
    assert.deepEqual([...agent.devices.info().capacity], [])
    // Of two for the same devices the newer one counts.
    await present(agent, plugin)
    const newer = await startPlugin({ ids: ['x'], endpoint: 'newer.sock' })
    await present(agent, newer, 1)
    plugin[Symbol.dispose]()
    await agent.settle()
    assert.deepEqual(agent.devices.info().allocatable.get(GPU), 1)
    // Where all plugins present themselves, these may too.
    const other = await startPlugin({ resource: 'example.com/nic', endpoint: 'nic.sock' })
    const notice = { type: 'DevicePlugin', name: other.resource, endpoint: other.socketPath, versions: ['v1beta1'] }
    await agent.devices.handler.register(notice, agent.group.signal)
    await until(() => agent.devices.info().allocatable.get(other.resource) === 2, 'the devices')
    await agent.devices.handler.deregister(notice)
    await until(() => agent.devices.info().allocatable.get(other.resource) === 0, 'no devices')
  })
})
