import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { serveSocket, toMethod } from '../../../test/fakes/serve-socket.ts'
import { TokenBucket } from '../../base/async/token-bucket.ts'
import { PodResourcesListerDefinition } from './generated/pod-resources-v1.ts'
import { PodResourcesListerDefinition as OldDefinition } from './generated/pod-resources-v1alpha1.ts'
import { createPodResourcesServices } from './pod-resources.ts'
import type { PodResourcesDeps } from './pod-resources.ts'

const { signal } = new AbortController()
const web = createPod({
  spec: {
    initContainers: [createContainer({ name: 'once' }), createContainer({ name: 'proxy', restartPolicy: 'Always' })],
  },
})
const over = createPod({ metadata: { name: 'over', uid: 'u-2' } })
const NOTHING_GIVEN = { devices: [], cpuIds: [], memory: [], dynamicResources: [] }
const GPU = { resourceName: 'example.com/gpu', deviceIds: ['gpu-1'], topology: { nodes: [{ ID: 1n }] } }

async function serve(t: TestContext, change: Partial<PodResourcesDeps> = {}) {
  const counted: string[] = []
  const services = createPodResourcesServices(
    {
      activePods: () => [web],
      pods: () => [web, over],
      listsActivePods: true,
      resourcesOf: (_, { name }) =>
        name === 'main' ? { ...NOTHING_GIVEN, devices: [GPU], cpuIds: [2n, 3n] } : NOTHING_GIVEN,
      allocatable: () => ({ devices: [GPU], cpuIds: [], memory: [] }),
      metrics: {
        podResourcesRequest: ({ version, method, failed }) => void counted.push(`${version} ${method} ${failed}`),
      },
      ...change,
    },
    new TokenBucket({ perSecond: 100, burst: 10, clock: new FakeClock() }),
  )
  return { ...(await serveSocket(t, services)), counted }
}

const WEB = {
  name: 'web',
  namespace: 'shop',
  containers: [
    { name: 'proxy', ...NOTHING_GIVEN },
    { name: 'main', ...NOTHING_GIVEN, devices: [GPU], cpuIds: [2n, 3n] },
  ],
}

test('List gives active pods, with sidecars before the other containers', async (t) => {
  const { channel, counted, socketPath } = await serve(t)
  const reply = await channel.unary(toMethod(PodResourcesListerDefinition, 'list'), {}, {}, signal)
  assert.deepEqual(reply, { podResources: [WEB] })
  assert.deepEqual(counted, ['v1 list false'])
  assert.equal(statSync(dirname(socketPath)).mode & 0o777, 0o750)
})

test('List gives all pods where the gate is off', async (t) => {
  const { channel } = await serve(t, { listsActivePods: false })
  const reply = await channel.unary(toMethod(PodResourcesListerDefinition, 'list'), {}, {}, signal)
  assert.deepEqual(
    (reply as { podResources: { name: string }[] }).podResources.map(({ name }) => name),
    ['web', 'over'],
  )
})

test('Get gives one pod, and rejects one that is terminal or unknown', async (t) => {
  const { channel, counted } = await serve(t)
  const get = toMethod(PodResourcesListerDefinition, 'get')
  assert.deepEqual(await channel.unary(get, { podName: 'web', podNamespace: 'shop' }, {}, signal), {
    podResources: WEB,
  })
  await assert.rejects(channel.unary(get, { podName: 'over', podNamespace: 'shop' }, {}, signal), {
    code: 'NotFound',
    detail: 'pod over in namespace shop not found',
  })
  assert.deepEqual(counted, ['v1 get false', 'v1 get true'])
})

test('GetAllocatableResources gives all that could be allocated', async (t) => {
  const { channel } = await serve(t)
  const method = toMethod(PodResourcesListerDefinition, 'getAllocatableResources')
  assert.deepEqual(await channel.unary(method, {}, {}, signal), { devices: [GPU], cpuIds: [], memory: [] })
})

test('the old version gives devices', async (t) => {
  const { channel, counted } = await serve(t)
  const { topology: _, ...device } = GPU
  assert.deepEqual(await channel.unary(toMethod(OldDefinition, 'list'), {}, {}, signal), {
    podResources: [
      { name: 'web', namespace: 'shop', containers: [{ name: 'main', devices: [device] }] },
      { name: 'over', namespace: 'shop', containers: [{ name: 'main', devices: [device] }] },
    ],
  })
  assert.deepEqual(counted, ['v1alpha1 list false'])
})

test('a client that asks too often is rejected', async (t) => {
  const { channel, counted } = await serve(t)
  const list = () => channel.unary(toMethod(PodResourcesListerDefinition, 'list'), {}, {}, signal)
  for (let times = 0; times < 10; times += 1) await list()
  await assert.rejects(list(), { code: 'ResourceExhausted', detail: 'rejected by rate limit' })
  assert.equal(counted.length, 10)
})
