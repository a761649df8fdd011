import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { GrpcChannel } from '../../../src/protocols/grpc/grpc-channel.ts'
import { PodResourcesListerDefinition } from '../../../src/serving/sockets/generated/pod-resources-v1.ts'
import type { AllocatableResourcesResponse } from '../../../src/serving/sockets/generated/pod-resources-v1.ts'
import { FakeDevicePlugin } from '../../fakes/fake-device-plugin.ts'
import { toMethod } from '../../fakes/serve-socket.ts'
import { TestNode } from '../support/test-node.ts'
import { testContainer, testPod } from '../support/test-pod.ts'

const GPU = 'example.com/gpu'
const never = new AbortController().signal

function createSpec(count = 1) {
  const amounts = { [GPU]: `${count}` }
  const script = 'echo started; exec sleep 1000'
  const resources = { limits: amounts, requests: amounts }
  return { terminationGracePeriodSeconds: 1, containers: [testContainer('main', script, { resources })] }
}

describe('devices of a plugin', () => {
  let node: TestNode
  let plugin: FakeDevicePlugin | undefined

  before(async () => {
    node = await TestNode.start()
  })

  after(async () => {
    plugin?.[Symbol.dispose]()
    await node[Symbol.asyncDispose]()
  })

  /** The devices that could be allocated, as monitoring agents see them. */
  async function allocatable(): Promise<number> {
    using channel = new GrpcChannel({
      target: `unix://${node.agent.rootDir}/pod-resources/kubelet.sock`,
      clock: systemClock,
    })
    const method = toMethod(PodResourcesListerDefinition, 'getAllocatableResources')
    const answer = (await channel.unary(method, {}, {}, never)) as AllocatableResourcesResponse
    return answer.devices.length
  }

  /** A plugin that presents itself to the agent that runs now. */
  async function startPlugin(): Promise<FakeDevicePlugin> {
    const folder = `${node.agent.rootDir}/device-plugins`
    await node.waitFor('the socket for plugins', async () => existsSync(`${folder}/kubelet.sock`))
    plugin?.[Symbol.dispose]()
    plugin = await FakeDevicePlugin.start({
      folder,
      allocation: (ids) => ({
        envs: { GPU_IDS: ids.join(',') },
        devices: [{ containerPath: '/dev/gpu', hostPath: '/dev/zero', permissions: 'r' }],
        mounts: [{ containerPath: '/gpu', hostPath: '/proc/sys', readOnly: true }],
      }),
    })
    await plugin.register()
    await node.waitFor('the devices of the plugin', async () => (await allocatable()) === 2)
    return plugin
  }

  test('are in the container, survive the agent, and cannot be had without their plugin', async () => {
    const first = await startPlugin()
    await node.lab.manifests.write('gpu', testPod('gpu', createSpec()))
    const { status } = await node.ready('gpu')
    assert.deepEqual(status?.containerStatuses?.[0]?.allocatedResourcesStatus, [
      { name: GPU, resources: [{ resourceID: 'a', health: 'Healthy' }] },
    ])
    assert.equal(
      await node.runIn('gpu', ['sh', '-c', 'echo $GPU_IDS; head -c 2 /dev/gpu | wc -c; ls /gpu/kernel/pid_max']),
      'a\n2\n/gpu/kernel/pid_max',
    )
    assert.deepEqual(first.asked, ['options', 'list', 'allocate a'])

    const before = await node.processes()
    await node.agent.kill('SIGKILL')
    // So that the next plugin does not find this socket, which has no server any more.
    rmSync(`${node.agent.rootDir}/device-plugins/kubelet.sock`)
    await node.startAgent()
    await node.agent.healthy()
    const second = await startPlugin()
    await node.ready('gpu')
    await node.lab.manifests.write('greedy', testPod('greedy', createSpec(2)))
    const { status: rejected } = await node.podIs('greedy', 'rejected', (pod) => pod.status?.phase === 'Failed')
    assert.equal(rejected?.reason, 'UnexpectedAdmissionError')
    assert.deepEqual([await node.processes(), second.asked], [before, ['options', 'list']])

    second[Symbol.dispose]()
    await node.waitFor('no device to give', async () => (await allocatable()) === 0)
    await node.ready('gpu')
    assert.deepEqual(await node.processes(), before)
  })
})
