import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createWorkloadWorld, runningStatus } from './create-workload-world.ts'
import type { AnyObject, WorkloadWorld } from './create-workload-world.ts'

const pod = (name: string, extra: object = {}) => ({
  metadata: { name, labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'node-1', ...extra },
})
const web = {
  metadata: { name: 'web', labels: { tier: 'a' } },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
}

async function createWorld(t: Parameters<typeof createWorkloadWorld>[0]): Promise<WorkloadWorld> {
  const world = await createWorkloadWorld(t)
  let next = 1
  world.kubelet = (each) => {
    if (each.status?.podIP !== undefined) return undefined
    const podIP = `10.1.0.${next++}`
    return { ...(runningStatus(each) as AnyObject), podIP, podIPs: [{ ip: podIP }] }
  }
  await world.create('nodes', { metadata: { name: 'node-1' } })
  return world
}

const slicesOf = async (world: WorkloadWorld, service: string): Promise<readonly AnyObject[]> =>
  (await world.list('endpointslices')).filter(
    ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === service,
  )
const addressesOf = (slices: readonly AnyObject[]) =>
  slices.flatMap(({ endpoints = [] }) => endpoints.flatMap(({ addresses }: AnyObject) => addresses))

describe('services and their endpoints', () => {
  test('slices and Endpoints follow pods, over a restart, and go with the service', async (t) => {
    const world = await createWorld(t)
    await world.create('services', web)
    const [empty] = await world.until(
      'one slice',
      () => slicesOf(world, 'web'),
      ({ length }) => length === 1,
    )
    assert.deepEqual([empty.endpoints, empty.metadata.labels.tier], [[], 'a'])
    await world.create('pods', pod('one'))
    await world.create('pods', pod('two'))
    await world.until(
      'two addresses',
      () => slicesOf(world, 'web'),
      (slices) => addressesOf(slices).length === 2,
    )
    await world.until(
      'ready Endpoints',
      () => world.get('endpoints', 'web'),
      (object) => object?.subsets?.[0]?.addresses?.length === 2,
    )
    await world.restart()
    world.endsPods = false
    await world.remove('pods', 'one', { gracePeriodSeconds: 30 })
    const [slice] = await world.until(
      'one is ending',
      () => slicesOf(world, 'web'),
      ([each]) => each.endpoints.some(({ conditions }: AnyObject) => conditions.terminating === true),
    )
    const ending = slice.endpoints.find(({ conditions }: AnyObject) => conditions.terminating)
    assert.deepEqual(ending.conditions, { ready: false, serving: true, terminating: true })
    await world.until(
      'gone from Endpoints',
      () => world.get('endpoints', 'web'),
      (object) => object.subsets[0].addresses.length === 1,
    )
    assert.equal((await slicesOf(world, 'web')).length, 1)
    await world.remove('services', 'web')
    await world.until(
      'no slices',
      () => slicesOf(world, 'web'),
      ({ length }) => length === 0,
    )
    await world.until(
      'no Endpoints',
      () => world.get('endpoints', 'web'),
      (object) => object === undefined,
    )
  })

  test('Endpoints written by hand are mirrored until the service finds pods itself', async (t) => {
    const world = await createWorld(t)
    await world.create('services', { metadata: { name: 'db' }, spec: { ports: [{ port: 5432 }] } })
    await world.create('endpoints', {
      metadata: { name: 'db' },
      subsets: [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 5432 }] }],
    })
    const [mirrored] = await world.until(
      'a mirrored slice',
      () => slicesOf(world, 'db'),
      ({ length }) => length === 1,
    )
    assert.deepEqual(addressesOf([mirrored]), ['192.0.2.7'])
    assert.equal(
      mirrored.metadata.labels['endpointslice.kubernetes.io/managed-by'],
      'endpointslicemirroring-controller.k8s.io',
    )
    await world.patch('services', 'db', { spec: { selector: { app: 'db' } } })
    await world.until(
      'slices of the selector alone',
      () => slicesOf(world, 'db'),
      (slices) => slices.length === 1 && addressesOf(slices).length === 0,
    )
  })

  test('slices that a user wrote stay as they are', async (t) => {
    const world = await createWorld(t)
    await world.create('services', { metadata: { name: 'own' }, spec: { ports: [{ port: 80 }] } })
    const labels = { 'kubernetes.io/service-name': 'own' }
    await world.create('endpointslices', {
      metadata: { name: 'own-1', labels },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.9'] }],
    })
    await world.create('services', web)
    await world.until(
      'slices of another',
      () => slicesOf(world, 'web'),
      ({ length }) => length === 1,
    )
    assert.deepEqual(addressesOf(await slicesOf(world, 'own')), ['192.0.2.9'])
  })
})
