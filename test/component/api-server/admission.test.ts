import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { call } from './api-client.ts'
import type { Answer, CallOptions } from './api-client.ts'
import { createTestApi } from './create-test-api.ts'
import type { TestApi } from './create-test-api.ts'

const PODS = '/api/v1/namespaces/default/pods'
const SERVICES = '/api/v1/namespaces/default/services'
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'

let server: TestApi
const folder = mkdtempSync(join(tmpdir(), 'deckhand-admission-'))
before(async () => {
  server = await createTestApi({ folder })
})
after(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

async function api(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
  return await call(server.api, method, path, { ...options, ...(body !== undefined && { body }) })
}

async function createPod(name: string, spec: object = {}, metadata: object = {}): Promise<Answer> {
  const containers = [{ name: 'c', image: 'i' }]
  return await api('POST', PODS, { metadata: { name, ...metadata }, spec: { containers, ...spec } })
}

async function createService(name: string, spec: object = {}): Promise<Answer> {
  return await api('POST', SERVICES, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } })
}

describe('accounts of pods', () => {
  test('a pod gets a token of its account, the authority to trust and its namespace', async () => {
    const { spec } = (await createPod('token', { initContainers: [{ name: 'i', image: 'i' }] })).body
    const [{ name, projected }] = spec.volumes
    assert.match(name, /^kube-api-access-[a-z0-9]{5}$/)
    assert.deepEqual(projected, {
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    })
    const mount = { name, readOnly: true, mountPath: TOKEN_PATH }
    assert.deepEqual([spec.containers[0].volumeMounts, spec.initContainers[0].volumeMounts], [[mount], [mount]])
    assert.deepEqual([spec.serviceAccountName, spec.serviceAccount], ['default', 'default'])
  })

  test('account and pod can opt out of the token, and the pod decides', async () => {
    await api('POST', ACCOUNTS, { metadata: { name: 'shy' }, automountServiceAccountToken: false })
    const volumes = async (name: string, spec: object) => (await createPod(name, spec)).body.spec.volumes?.length ?? 0
    assert.equal(await volumes('shy', { serviceAccountName: 'shy' }), 0)
    assert.equal(await volumes('bold', { serviceAccountName: 'shy', automountServiceAccountToken: true }), 1)
    assert.equal(await volumes('own', { automountServiceAccountToken: false }), 0)
  })

  test('what a container has at the place of the token stays there', async () => {
    const volumeMounts = [{ name: 'own', mountPath: TOKEN_PATH }]
    const containers = [{ name: 'c', image: 'i', volumeMounts }]
    const { spec } = (await createPod('mounted', { containers, volumes: [{ name: 'own', emptyDir: {} }] })).body
    assert.deepEqual(
      spec.volumes.map((volume: { name: string }) => volume.name),
      ['own'],
    )
  })

  test('pull secrets come from the account, unless the pod has its own', async () => {
    await api('POST', ACCOUNTS, { metadata: { name: 'puller' }, imagePullSecrets: [{ name: 'registry' }] })
    const secrets = async (name: string, spec: object) =>
      (await createPod(name, { serviceAccountName: 'puller', ...spec })).body.spec.imagePullSecrets
    assert.deepEqual(await secrets('puller', {}), [{ name: 'registry' }])
    assert.deepEqual(await secrets('puller2', { imagePullSecrets: [{ name: 'own' }] }), [{ name: 'own' }])
  })

  test('an account that is not there is rejected', async () => {
    const { status, body } = await createPod('nobody', { serviceAccountName: 'ghost' })
    assert.equal(status, 403)
    assert.equal(
      body.message,
      'pods "nobody" is forbidden: error looking up service account default/ghost: serviceaccount "ghost" not found',
    )
  })

  test('the default account comes back', async () => {
    const path = `${ACCOUNTS}/default`
    const { uid } = (await api('GET', path)).body.metadata as { uid: string }
    assert.equal((await api('DELETE', path)).status, 200)
    const again = await api('GET', path)
    assert.equal(again.status, 200)
    assert.notEqual(again.body.metadata.uid, uid)
  })

  test('a mirror pod is left as it is', async () => {
    const metadata = { annotations: { 'kubernetes.io/config.mirror': 'x' } }
    const { spec } = (await createPod('mirror', { nodeName: 'node-1' }, metadata)).body
    assert.deepEqual([spec.volumes, spec.serviceAccountName], [undefined, undefined])
  })
})

describe('tolerations of pods', () => {
  const usual = ['not-ready', 'unreachable'].map((name) => ({
    key: `node.kubernetes.io/${name}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  }))

  test('pods stay for a while on a node in trouble', async () => {
    assert.deepEqual((await createPod('patient')).body.spec.tolerations, usual)
  })

  test('a pod that says what it wants keeps that', async () => {
    const all = [{ operator: 'Exists' }]
    assert.deepEqual((await createPod('stubborn', { tolerations: all })).body.spec.tolerations, all)
    const one = [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }]
    assert.deepEqual((await createPod('half', { tolerations: one })).body.spec.tolerations, [...one, usual[1]])
  })
})

describe('services', () => {
  test('the API has one of its own', async () => {
    const { spec } = (await api('GET', `${SERVICES}/kubernetes`)).body
    assert.deepEqual(
      [spec.clusterIP, spec.ports],
      ['10.96.0.1', [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 443 }]],
    )
  })

  test('each gets an address of its own and keeps it', async () => {
    const [one, two] = [(await createService('one')).body, (await createService('two')).body]
    assert.notEqual(one.spec.clusterIP, two.spec.clusterIP)
    assert.match(one.spec.clusterIP, /^10\.96\.\d+\.\d+$/)
    assert.deepEqual(
      [one.spec.clusterIPs, one.spec.ipFamilies, one.spec.ipFamilyPolicy],
      [[one.spec.clusterIP], ['IPv4'], 'SingleStack'],
    )
    const without = { metadata: { name: 'one' }, spec: { ports: [{ port: 81 }] } }
    const updated = await api('PUT', `${SERVICES}/one`, without)
    assert.deepEqual([updated.status, updated.body.spec.clusterIP], [200, one.spec.clusterIP])
    const other = { ...without, spec: { ...without.spec, clusterIP: '10.96.9.9' } }
    assert.match((await api('PUT', `${SERVICES}/one`, other)).body.message, /may not change once set/)
  })

  test('an address can be chosen, once and inside the range', async () => {
    assert.equal((await createService('chosen', { clusterIP: '10.96.0.10' })).status, 201)
    const twice = await createService('twice', { clusterIP: '10.96.0.10' })
    assert.deepEqual([twice.status, twice.body.reason], [422, 'Invalid'])
    assert.match(twice.body.message, /failed to allocate IP 10\.96\.0\.10: provided IP is already allocated/)
    const outside = await createService('outside', { clusterIP: '192.168.0.1' })
    assert.match(outside.body.message, /not in the valid range\. The range of valid IPs is 10\.96\.0\.0\/12/)
  })

  test('headless and external ones have no address', async () => {
    const headless = (await createService('headless', { clusterIP: 'None' })).body.spec
    assert.deepEqual([headless.clusterIP, headless.clusterIPs], ['None', ['None']])
    const external = (await createService('external', { type: 'ExternalName', externalName: 'example.org' })).body.spec
    assert.deepEqual([external.clusterIP, external.clusterIPs], [undefined, undefined])
  })

  test('node ports are given once', async () => {
    const first = (await createService('np1', { type: 'NodePort' })).body.spec.ports[0].nodePort as number
    const second = (await createService('np2', { type: 'LoadBalancer' })).body.spec.ports[0].nodePort as number
    assert.ok(first >= 30_000 && second >= 30_000 && first !== second)
    const taken = await createService('np3', { type: 'NodePort', ports: [{ port: 80, nodePort: first }] })
    assert.match(taken.body.message, /spec\.ports\[0\]\.nodePort: Invalid value: .*already allocated/)
  })
})

describe('bindings', () => {
  test('a pod can be bound through the collection too', async () => {
    const gated = { schedulerName: 'mine' }
    assert.equal((await createPod('unbound', gated)).body.spec.nodeName, undefined)
    const body = { metadata: { name: 'unbound' }, target: { kind: 'Node', name: 'node-7' } }
    assert.equal((await api('POST', '/api/v1/namespaces/default/bindings', body)).status, 201)
    assert.equal((await api('GET', `${PODS}/unbound`)).body.spec.nodeName, 'node-7')
    assert.equal((await api('POST', '/api/v1/namespaces/default/bindings', body)).status, 409)
  })
})

describe('the end of namespaces', () => {
  async function create(name: string, metadata: object = {}): Promise<string> {
    await api('POST', '/api/v1/namespaces', { metadata: { name, ...metadata } })
    return `/api/v1/namespaces/${name}`
  }

  test('another controller may have to do something first', async () => {
    const path = await create('held')
    await api('PUT', `${path}/finalize`, { metadata: { name: 'held' }, spec: { finalizers: ['kubernetes', 'x.io/y'] } })
    await api('DELETE', path)
    assert.equal((await api('GET', path)).body.status.phase, 'Terminating')
    await api('PUT', `${path}/finalize`, { metadata: { name: 'held' }, spec: { finalizers: ['kubernetes'] } })
    assert.equal((await api('GET', path)).status, 404)
  })

  test('a namespace whose own finalizer is removed does not wait for what is in it', async () => {
    const path = await create('forced')
    await api('POST', `${path}/pods`, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } })
    await api('DELETE', path)
    assert.equal((await api('GET', path)).body.status.phase, 'Terminating')
    await api('PUT', `${path}/finalize`, { metadata: { name: 'forced' }, spec: { finalizers: [] } })
    assert.equal((await api('GET', path)).status, 404)
  })

  test('goes when the last finalizer of its metadata goes', async () => {
    const path = await create('named', { finalizers: ['x.io/y'] })
    await api('DELETE', path)
    assert.equal((await api('GET', path)).status, 200)
    await api('PATCH:merge', path, { metadata: { finalizers: null } })
    assert.equal((await api('GET', path)).status, 404)
  })
})

describe('dry runs', () => {
  test('make no version', async () => {
    await createService('dry')
    const before = (await api('GET', `${SERVICES}/dry`)).body.metadata.resourceVersion as string
    const patch = { metadata: { labels: { a: 'b' } } }
    const { body } = await api('PATCH:merge', `${SERVICES}/dry?dryRun=All`, patch)
    assert.deepEqual([body.metadata.resourceVersion, body.metadata.labels], [before, { a: 'b' }])
    const made = await api('POST', `${SERVICES}?dryRun=All`, {
      metadata: { name: 'x' },
      spec: { ports: [{ port: 1 }] },
    })
    assert.deepEqual([made.status, made.body.metadata.resourceVersion], [201, undefined])
  })
})
