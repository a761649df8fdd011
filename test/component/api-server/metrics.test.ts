import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { KubeletCredentials } from '../../../src/api-server/backends/kubelet-credentials.ts'
import { ensureKubeletClientCertificate } from '../../../src/api-server/pki/kubelet-client-certificate.ts'
import { openPki } from '../../../src/api-server/pki/open-pki.ts'
import { systemClock } from '../../../src/base/async/clock.ts'
import { FakeClock } from '../../fakes/fake-clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { call } from './api-client.ts'
import { createTestApi } from './create-test-api.ts'
import { startFakeKubelet } from './fake-kubelet.ts'
import { createFolder } from './start-secured-api.ts'

const GROUP = '/apis/metrics.k8s.io/v1beta1'

async function setUp(
  t: TestContext,
  answer: (response: ServerResponse, now: number, request: IncomingMessage) => void,
) {
  const folder = createFolder(t)
  const clock = new FakeClock()
  const pki = await openPki(`${folder}/pki`, { clock: systemClock, log: silentLogger })
  const certificate = await ensureKubeletClientCertificate(pki, { clock: systemClock, log: silentLogger })
  const kubeletTls = new KubeletCredentials({ authorityPem: pki.authority.pem, certificate }).tls()
  const server = await createTestApi({ folder, clock, kubeletTls })
  t.after(() => server[Symbol.asyncDispose]())
  const { port } = await startFakeKubelet(t, folder, (request, response) => answer(response, clock.now(), request))
  const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }]
  const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } }
  await call(server.api, 'POST', '/api/v1/nodes', { body: { metadata: { name: 'node-1' }, status } })
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  const pod = { metadata: { name: 'p', labels: { app: 'a' } }, spec }
  await call(server.api, 'POST', '/api/v1/namespaces/default/pods', { body: pod })
  /** Asks, and lets the time pass that the API waits for a second reading. */
  const get = async (path: string, accept?: string) => {
    const answer = call(server.api, 'GET', `${GROUP}${path}`, accept === undefined ? {} : { accept })
    const done = answer.then(() => true)
    while (!(await Promise.race([done, setImmediate(false)]))) if (clock.sleeping > 0) await clock.advance(1000)
    return await answer
  }
  const newPod = {
    isThere: false,
    async add() {
      await call(server.api, 'POST', '/api/v1/namespaces/default/pods', { body: { metadata: { name: 'new' }, spec } })
      newPod.isThere = true
    },
  }
  return { api: server.api, get, clock, newPod }
}

/** Half a core of the node, a tenth of one for the container. */
function report(now: number, newPod = { isThere: false }): string {
  const of = 'container="c",namespace="default",pod="p"'
  const come = newPod.isThere ? `container_cpu_usage_seconds_total{${of.replace('"p"', '"new"')}} 1 ${now}\n` : ''
  return `${come}node_cpu_usage_seconds_total ${(now / 1000) * 0.5} ${now}
node_memory_working_set_bytes 2048000 ${now}
container_cpu_usage_seconds_total{${of}} ${(now / 1000) * 0.1} ${now}
container_memory_working_set_bytes{${of}} 1024 ${now}
container_cpu_usage_seconds_total{container="x",namespace="default",pod="unknown"} 1 ${now}
`
}

describe('metrics.k8s.io', () => {
  test('reports what nodes and pods use', async (t) => {
    const { get } = await setUp(t, (response, now) => response.end(report(now)))
    const nodes = await get('/nodes')
    assert.equal(nodes.status, 200)
    assert.deepEqual([nodes.body.kind, nodes.body.items[0].metadata.name], ['NodeMetricsList', 'node-1'])
    const { cpu, memory } = nodes.body.items[0].usage as { cpu: string; memory: string }
    assert.ok(Math.abs(Number.parseInt(cpu) - 5e8) < 1e6, cpu)
    assert.equal(memory, '2000Ki')
    const pod = (await get('/namespaces/default/pods/p')).body
    assert.deepEqual([pod.kind, pod.metadata.labels, pod.containers[0].name], ['PodMetrics', { app: 'a' }, 'c'])
    assert.equal(pod.containers[0].usage.memory, '1Ki')
    const names = async (path: string) =>
      ((await get(path)).body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)
    assert.deepEqual(await names('/pods'), ['p'])
    assert.deepEqual(await names('/pods?labelSelector=app%3Db'), [])
    assert.equal((await get('/namespaces/default/pods/unknown')).status, 404)
    const table = await get('/nodes', 'application/json;as=Table;g=meta.k8s.io;v=v1')
    assert.equal(table.body.rows[0].cells[0], 'node-1')
  })

  test('reports it at the first request after a pause, and for pods that have just started', async (t) => {
    let measured = { at: Number.NEGATIVE_INFINITY, text: '' }
    const { get, clock, newPod } = await setUp(t, (response, now, request) => {
      // Measures at most every ten seconds unless asked otherwise, as ours does.
      const isOld = now - measured.at > (request.headers['cache-control'] === 'max-age=0' ? 500 : 10_000)
      if (isOld) measured = { at: now, text: report(now, newPod) }
      response.end(measured.text)
    })
    const stats = async () => [(await get('/nodes')).body.items.length, (await get('/pods')).body.items.length]
    assert.deepEqual(await stats(), [1, 1])
    await clock.advance(3_600_000)
    assert.deepEqual(await stats(), [1, 1])
    await newPod.add()
    await clock.advance(2000)
    assert.deepEqual(await stats(), [1, 2])
  })

  test('says so when the kubelet does not report', async (t) => {
    const { get } = await setUp(t, (response) => {
      response.statusCode = 404
      response.end('404 page not found')
    })
    const { status, body } = await get('/nodes')
    assert.deepEqual(
      [status, body.reason, body.message],
      [
        503,
        'ServiceUnavailable',
        'the kubelet of node "node-1" does not report usage: it answered 404 404 page not found',
      ],
    )
  })

  test('is found in discovery, under its own version', async (t) => {
    const { api } = await setUp(t, (response, now) => response.end(report(now)))
    const { body } = await call(api, 'GET', '/apis/metrics.k8s.io')
    assert.equal(body.preferredVersion.groupVersion, 'metrics.k8s.io/v1beta1')
    assert.equal((await call(api, 'GET', GROUP)).body.resources.length, 2)
    assert.equal((await call(api, 'GET', '/apis/metrics.k8s.io/v1')).status, 404)
  })
})
