import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { call } from '../api-server/api-client.ts'
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

async function createWorld(
  t: Parameters<typeof createWorkloadWorld>[0],
  parts: NonNullable<Parameters<typeof createWorkloadWorld>[1]>['parts'] = {},
): Promise<WorkloadWorld> {
  const world = await createWorkloadWorld(t, { parts })
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

async function findFreePort(address: string): Promise<number> {
  const server = createServer().listen(0, address)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

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
    await world.create('services', { metadata: { name: 'hidden' }, spec: { ports: [{ port: 5432 }] } })
    await world.create('endpoints', {
      metadata: { name: 'hidden', labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip: '192.0.2.8' }], ports: [{ port: 5432 }] }],
    })
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
    assert.deepEqual(await slicesOf(world, 'hidden'), [])
  })

  test('a name follows the address of its pod at once', async (t) => {
    const ready = Promise.withResolvers<number>()
    const servers = async () => []
    const dns = { address: '127.0.0.1', port: 0, domain: 'cluster.local', ranges: [], servers, onReady: ready.resolve }
    const world = await createWorld(t, { dns })
    await world.create('services', {
      metadata: { name: 'db' },
      spec: { clusterIP: 'None', selector: { app: 'web' }, ports: [{ port: 80 }] },
    })
    await world.create('pods', pod('db-0', { hostname: 'db-0', subdomain: 'db' }))
    const resolver = new Resolver()
    resolver.setServers([`127.0.0.1:${await ready.promise}`])
    const ask = () => resolver.resolve4('db-0.db.default.svc.cluster.local').catch(() => [])
    const [first] = await world.until('an address', ask, ([address]) => address !== undefined)
    assert.equal(first, (await world.get('pods', 'db-0')).status.podIP)
    await world.patch('pods', 'db-0/status', { status: { podIP: '10.1.7.7', podIPs: [{ ip: '10.1.7.7' }] } })
    await world.until('the next one', ask, ([address]) => address === '10.1.7.7')
  })

  test('the service of DNS is there again when it was deleted', async (t) => {
    const address = '127.96.0.10'
    const port = await findFreePort(address)
    const dns = { address, port, domain: 'cluster.local', ranges: [], servers: async () => [] }
    const world = await createWorkloadWorld(t, { parts: { dns }, api: { serviceRange: '127.96.0.0/24' } })
    const path = '/api/v1/namespaces/kube-system/services/kube-dns'
    const get = async () => (await call(world.api, 'GET', path)).body
    const seen = new Set<string>()
    for (const what of ['the first', 'the second', 'the third']) {
      const isNew = ({ kind, metadata }: AnyObject) => kind === 'Service' && !seen.has(metadata.uid)
      const { metadata, spec } = await world.until(what, get, isNew)
      assert.equal(spec.clusterIP, address)
      seen.add(metadata.uid)
      await call(world.api, 'DELETE', path)
    }
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
