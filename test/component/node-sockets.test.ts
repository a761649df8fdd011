import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import { GrpcChannel } from '../../src/protocols/grpc/grpc-channel.ts'
import { waitForReady } from '../../src/protocols/grpc/grpc-connection.ts'
import { PodResourcesListerDefinition } from '../../src/serving/sockets/generated/pod-resources-v1.ts'
import type {
  AllocatableResourcesResponse,
  ListPodResourcesResponse,
} from '../../src/serving/sockets/generated/pod-resources-v1.ts'
import { EventType, PodsDefinition } from '../../src/serving/sockets/generated/pods-v1alpha1.ts'
import type { WatchPodsEvent } from '../../src/serving/sockets/generated/pods-v1alpha1.ts'
import { decodeProtobuf } from '../../src/model/schema/protobuf/decode-protobuf.ts'
import { FakeStateFile } from '../fakes/fake-state-file.ts'
import { toMethod } from '../fakes/serve-socket.ts'
import { makeTemporaryFolder } from '../fixtures/make-temporary-folder.ts'
import { combine, startAgent, until } from './create-agent.ts'
import { FakeCpuNode } from '../fakes/fake-cpu-node.ts'
import type { AgentOptions } from './create-agent.ts'
import { createClaimCluster, DRIVER, specWith } from './create-claim-cluster.ts'
import { createWantedContainer, createWantedPod, createWorld, running } from './create-world.ts'
import { staticCpus } from './static-cpus.ts'
import { staticMemory } from './static-memory.ts'

const { signal } = new AbortController()
const toBlock = (node: bigint, size: bigint) => ({ memoryType: 'memory', size, topology: { nodes: [{ ID: node }] } })

/** An agent that serves its sockets in a folder of its own. */
function servingIn(root: string, flags: readonly string[] = []): AgentOptions {
  return { root, loops: ['node API'], flags }
}

/** Clients of the sockets in a folder. */
function createClients(root: string) {
  const channels: GrpcChannel[] = []
  return {
    async connect(socket: string) {
      const channel = new GrpcChannel({ target: `unix://${join(root, socket)}`, clock: systemClock })
      channels.push(channel)
      await waitForReady(channel, signal)
      return channel
    },
    [Symbol.dispose]() {
      for (const channel of channels) channel.close()
    },
  }
}

describe("the node's own sockets", () => {
  test('report pods from their start to their end', async () => {
    await using world = await createWorld()
    const root = makeTemporaryFolder()
    await using agent = await startAgent(world, servingIn(root, ['--feature-gates=PodsAPI=true']))
    using api = createClients(root)
    const channel = await api.connect('pods-api/pods-api.sock')
    const seen: string[] = []
    const leave = new AbortController()
    const events = channel.stream(toMethod(PodsDefinition, 'watchPods'), {}, {}, leave.signal)
    const watching = (async () => {
      for await (const { type, pod } of events as AsyncIterable<WatchPodsEvent>) {
        const { metadata, status } = decodeProtobuf(pod, 'Pod') as Record<string, Record<string, string> | undefined>
        seen.push(`${Object.keys(EventType)[type]} ${metadata?.['name'] ?? ''} ${status?.['phase'] ?? ''}`.trim())
      }
    })().catch(() => {})
    await until(() => seen.length === 1, 'the end of what is there')
    const pod = createWantedPod()
    agent.setPods([pod])
    await until(() => seen.includes('MODIFIED pod-u-1 Running'), 'the pod runs')
    agent.setPods([])
    await until(() => seen.at(-1) === 'DELETED pod-u-1', 'the pod is gone')
    assert.deepEqual(seen.slice(0, 2), ['INITIAL_SYNC_COMPLETE', 'ADDED pod-u-1 Pending'])
    leave.abort(new Error('seen enough'))
    await watching
  })

  test('report the resources of containers, and not of pods where the gate is off', async () => {
    await using world = await createWorld()
    const root = makeTemporaryFolder()
    await using agent = await startAgent(world, servingIn(root))
    using api = createClients(root)
    agent.setPods([createWantedPod()])
    await agent.settle()
    const channel = await api.connect('pod-resources/kubelet.sock')
    const list = await channel.unary(toMethod(PodResourcesListerDefinition, 'list'), {}, {}, signal)
    const main = { name: 'main', devices: [], cpuIds: [], memory: [], dynamicResources: [] }
    assert.deepEqual(list, { podResources: [{ name: 'pod-u-1', namespace: 'shop', containers: [main] }] })
    await assert.rejects(channel.unary(toMethod(PodsDefinition, 'listPods'), {}, {}, signal), { code: 'Unimplemented' })
  })

  test('report the claims that a container uses', async (t) => {
    await using world = await createWorld()
    const { root, cluster, endpoint, ...claims } = await createClaimCluster(t, world)
    const device = { poolName: 'pool', deviceName: 'gpu-0', cdiDeviceIds: ['gpu.example/gpu=0'] }
    await claims.driver({ devices: () => [device, { ...device, shareId: 'half' }] })
    await claims.claim('gpu')
    await claims.allocate('gpu', await cluster.create('web', specWith({ resourceClaimName: 'gpu' })))
    const { agent } = await claims.join(servingIn(root))
    await using _ = agent
    using api = createClients(root)
    await agent.dra.drivers.register({ name: DRIVER, endpoint, versions: ['v1.DRAPlugin'] })
    await until(() => running(world).length === 1, 'the pod runs')
    await agent.settle()
    const channel = await api.connect('pod-resources/kubelet.sock')
    const list = await channel.unary(toMethod(PodResourcesListerDefinition, 'list'), {}, {}, signal)
    const reported = {
      driverName: 'gpu.example',
      poolName: 'pool',
      deviceName: 'gpu-0',
      cdiDevices: [{ name: 'gpu.example/gpu=0' }],
      shareId: undefined,
    }
    assert.deepEqual((list as ListPodResourcesResponse).podResources[0]?.containers[0]?.dynamicResources, [
      { claimName: 'gpu', claimNamespace: 'shop', claimResources: [reported, { ...reported, shareId: 'half' }] },
    ])
  })

  test('report CPUs and memory that a container has for itself, and those that could be given away', async () => {
    await using world = await createWorld()
    const root = makeTemporaryFolder()
    await using agent = await startAgent(
      world,
      combine(staticCpus(world, new FakeCpuNode()), staticMemory(world, new FakeStateFile('memory')), servingIn(root)),
    )
    using api = createClients(root)
    const all = { cpu: '2', memory: '64Mi' }
    agent.setPods([
      createWantedPod('own', { containers: [createWantedContainer({ resources: { requests: all, limits: all } })] }),
      createWantedPod('shared'),
    ])
    await agent.settle()
    const channel = await api.connect('pod-resources/kubelet.sock')
    const list = await channel.unary(toMethod(PodResourcesListerDefinition, 'list'), {}, {}, signal)
    const { podResources } = list as ListPodResourcesResponse
    const allocatable = toMethod(PodResourcesListerDefinition, 'getAllocatableResources')
    const { cpuIds, memory } = (await channel.unary(allocatable, {}, {}, signal)) as AllocatableResourcesResponse
    assert.deepEqual(
      podResources.map(({ name, containers }) => [
        name,
        ...containers.map((each) => each.cpuIds),
        ...containers.map((each) => each.memory),
      ]),
      [
        ['pod-own', [1n, 5n], [toBlock(0n, 64n * 2n ** 20n)]],
        ['pod-shared', [], []],
      ],
    )
    assert.deepEqual(cpuIds, [1n, 2n, 3n, 4n, 5n, 6n, 7n])
    assert.deepEqual(memory, [toBlock(0n, 4n * 2n ** 30n), toBlock(1n, 4n * 2n ** 30n)])
  })
})
