import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { TaskGroup } from '../../../src/base/async/task-group.ts'
import { hostConfigFiles } from '../../../src/system/files/host-config-files.ts'
import { createKubeClient } from '../../../src/protocols/kube-api/create-kube-client.ts'
import { NodeFollower } from '../../../src/protocols/kube-api/followers/node-follower.ts'
import { RuntimeClassesFollower } from '../../../src/protocols/kube-api/followers/runtime-classes-follower.ts'
import { ServicesFollower } from '../../../src/protocols/kube-api/followers/services-follower.ts'
import type { KubeClient } from '../../../src/protocols/kube-api/kube-client.ts'
import { createClusterTransport } from '../../../src/protocols/kube-api/kubeconfig/create-cluster-transport.ts'
import { loadKubeconfig } from '../../../src/protocols/kube-api/kubeconfig/load-kubeconfig.ts'
import type { RuntimeClasses } from '../../../src/pods/sync/start/runtime-classes.ts'
import { createKubeObjectApi } from '../../../src/pods/objects/create-kube-object-api.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { startSecuredApi } from '../api-server/start-secured-api.ts'
import { until } from './create-test-client.ts'

const never = new AbortController().signal

/** A client as the agent makes it, of the kubeconfig file of an identity. */
async function createClient(t: TestContext, path: string): Promise<KubeClient> {
  const over = new AbortController()
  const tasks = new TaskGroup(over.signal)
  t.after(async () => {
    over.abort(new Error('The test ends'))
    await tasks.join()
  })
  const deps = { clock: systemClock, log: silentLogger }
  const transport = createClusterTransport({
    config: await loadKubeconfig(hostConfigFiles, path),
    files: hostConfigFiles,
    run: () => assert.fail('no program is to be run'),
    environment: {},
    tasks,
    ...deps,
  })
  const metrics = { request() {}, waited() {}, sized() {} }
  return createKubeClient({ ...deps, transport, qps: -1, burst: 0, userAgent: 'test', metrics, random: Math.random })
}

async function setUp(t: TestContext) {
  const api = await startSecuredApi(t)
  const admin = await createClient(t, join(api.folder, 'admin.kubeconfig'))
  const node = await createClient(t, join(api.folder, 'node.kubeconfig'))
  const deps = { client: node, clock: systemClock, random: Math.random, log: silentLogger }
  const over = new AbortController()
  const create = (path: string, body: object) => admin.send({ method: 'POST', path, body }, never)
  const runUntilEnd = (run: (signal: AbortSignal) => Promise<never>) => {
    const running = run(over.signal)
    running.catch(() => {})
    t.after(async () => {
      over.abort(new Error('The test ends'))
      await assert.rejects(running, /The test ends/)
    })
  }
  return { admin, node, deps, create, runUntilEnd }
}

describe('a client of our own API server', () => {
  test('reads and writes, and gets the reasons of refusals', async (t) => {
    const { admin, node } = await setUp(t)
    const path = '/api/v1/namespaces/default/configmaps'
    const body = { metadata: { name: 'a' }, data: { __proto__: '1' } }
    await admin.send(
      { method: 'POST', path, body: JSON.parse('{"metadata":{"name":"a"},"data":{"__proto__":"1"}}') },
      never,
    )
    await assert.rejects(admin.send({ method: 'POST', path, body }, never), {
      name: 'KubeApiError',
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
    })
    const changed = await admin.send<{ data: object }>(
      {
        method: 'PATCH',
        path: `${path}/a`,
        body: { data: { b: '2' } },
        contentType: 'application/strategic-merge-patch+json',
      },
      never,
    )
    assert.deepEqual(Object.entries(changed.data), [
      ['__proto__', '1'],
      ['b', '2'],
    ])
    await assert.rejects(node.send({ method: 'GET', path }, never), {
      name: 'KubeApiError',
      code: 403,
      reason: 'Forbidden',
    })
    await assert.rejects(admin.send({ method: 'GET', path: `${path}/x` }, never), { code: 404, reason: 'NotFound' })
  })

  test('follows services, runtime classes and its own node', async (t) => {
    const { admin, deps, create, runUntilEnd } = await setUp(t)
    const services = new ServicesFollower(deps)
    const classes = new RuntimeClassesFollower(deps)
    const own = new NodeFollower({ ...deps, nodeName: 'node-1' })
    const asKubelet: RuntimeClasses = classes
    assert.deepEqual(
      [services.lookup().kind, asKubelet.find('a').kind, own.node()],
      ['unavailable', 'unavailable', undefined],
    )
    for (const follower of [services, classes, own]) runUntilEnd((signal) => follower.run(signal))
    await until(() => services.hasSynced && classes.hasSynced && own.hasSynced)
    const changes: (string | undefined)[] = []
    const stop = own.onChange((node) => changes.push(node?.metadata?.name))
    const ports = [{ port: 80 }]
    await create('/api/v1/namespaces/default/services', {
      metadata: { name: 'web' },
      spec: { clusterIP: '10.96.0.10', ports },
    })
    await create('/api/v1/namespaces/default/services', {
      metadata: { name: 'headless' },
      spec: { clusterIP: 'None', ports },
    })
    await create('/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'a' }, handler: 'gvisor' })
    await create('/api/v1/nodes', { metadata: { name: 'node-1' } })
    await until(() => own.node() !== undefined && asKubelet.find('a').kind === 'found')
    await until(() => services.list('default').some(({ metadata }) => metadata?.name === 'web'))
    assert.deepEqual(asKubelet.find('a'), { kind: 'found', value: { handler: 'gvisor' } })
    assert.deepEqual(asKubelet.find('b'), { kind: 'missing' })
    assert.deepEqual(services.list('other'), [])
    assert.ok(!services.list('default').some(({ metadata }) => metadata?.name === 'headless'))
    await admin.send({ method: 'DELETE', path: '/api/v1/nodes/node-1' }, never)
    await until(() => own.node() === undefined)
    stop()
    assert.deepEqual([changes[0], changes.at(-1)], ['node-1', undefined])
  })
})

describe('the objects of pods', () => {
  const key = { namespace: 'default', name: 'web' }

  test('are read and followed one by one', async (t) => {
    const { admin, deps, create } = await setUp(t)
    const api = createKubeObjectApi({ ...deps, client: admin })
    await assert.rejects(api.get('Secret', key, { cached: true }, never), {
      name: 'ObjectError',
      reason: 'NotFound',
      message: 'secrets "web" not found',
    })
    const leave = new AbortController()
    const reported: unknown[] = []
    const watch = api.watch('Secret', key, (secret) => reported.push(secret?.data?.['a']), leave.signal)
    watch.catch(() => {})
    await until(() => reported.length === 1)
    const path = '/api/v1/namespaces/default/secrets'
    await create(path, { metadata: { name: 'other' } })
    await create(path, { metadata: { name: 'web' }, data: { a: 'MQ==' } })
    await until(() => reported.length === 2)
    assert.deepEqual((await api.get('Secret', key, { cached: true }, never)).data, { a: 'MQ==' })
    await admin.send({ method: 'DELETE', path: `${path}/web` }, never)
    await until(() => reported.length === 3)
    assert.deepEqual(reported, [undefined, 'MQ==', undefined])
    leave.abort(new Error('no more'))
    await assert.rejects(watch, /no more/)
  })

  test('are refused with a reason when no pod of the node needs them; a watch ends with it', async (t) => {
    const { deps } = await setUp(t)
    const api = createKubeObjectApi(deps)
    const forbidden = { name: 'ObjectError', reason: 'Forbidden' }
    await assert.rejects(api.get('Secret', key, { cached: false }, never), forbidden)
    await assert.rejects(
      api.watch('Secret', key, () => {}, never),
      forbidden,
    )
  })

  test('include tokens', async (t) => {
    const { admin, deps, create } = await setUp(t)
    const api = createKubeObjectApi({ ...deps, client: admin })
    await create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } })
    const spec = { audiences: ['vault'], expirationSeconds: 1200, boundObject: undefined }
    const token = await api.createToken({ namespace: 'default', name: 'robot' }, spec, never)
    assert.equal(token.token.split('.').length, 3)
    assert.equal(token.lifeSeconds, 1200)
    await assert.rejects(api.createToken({ namespace: 'default', name: 'nobody' }, spec, never), {
      name: 'ObjectError',
      reason: 'NotFound',
    })
  })
})
