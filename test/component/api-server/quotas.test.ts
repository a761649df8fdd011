import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connectTarget } from '../../contract/api-server/api-target.ts'
import type { ApiTarget } from '../../contract/api-server/api-target.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { startApiServer } from './start-secured-api.ts'

const NAMESPACE = '/api/v1/namespaces/default'

describe('quotas, through the whole server', () => {
  let target: ApiTarget
  let server: Awaited<ReturnType<typeof startApiServer>>
  const folder = makeTemporaryFolder()
  const send = async (method: string, path: string, body?: object) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const wire = { user: 'admin' as const, method, path, headers: { 'content-type': type } }
    const answer = await target.send({ ...wire, ...(body && { body: JSON.stringify(body) }) })
    return { status: answer.status, body: JSON.parse(answer.text) }
  }
  const used = async () => (await send('GET', `${NAMESPACE}/resourcequotas/q`)).body.status.used
  const pod = (name: string) => ({
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '500m' } } }] },
  })
  before(async () => {
    server = await startApiServer(folder)
    target = await connectTarget(server.server, join(folder, 'pki'))
  })
  after(async () => {
    await target[Symbol.asyncDispose]()
    await server.stop()
  })

  test('what is used follows from what is there, at once', async () => {
    await send('POST', `${NAMESPACE}/pods`, pod('before'))
    await send('POST', `${NAMESPACE}/resourcequotas`, {
      metadata: { name: 'q' },
      spec: { hard: { pods: '2', cpu: '1' } },
    })
    assert.deepEqual(await used(), { cpu: '500m', pods: '1' })
    assert.equal((await send('POST', `${NAMESPACE}/pods`, pod('second'))).status, 201)
    assert.deepEqual(await used(), { cpu: '1', pods: '2' })
    const refused = await send('POST', `${NAMESPACE}/pods`, pod('third'))
    assert.equal(refused.status, 403)
    assert.match(
      refused.body.message,
      /exceeded quota: q, requested: cpu=500m,pods=1, used: cpu=1,pods=2, limited: cpu=1,pods=2/,
    )
    await send('PATCH', `${NAMESPACE}/pods/second/status`, { status: { phase: 'Succeeded' } })
    assert.deepEqual(await used(), { cpu: '500m', pods: '1' })
    await send('DELETE', `${NAMESPACE}/pods/before`, { gracePeriodSeconds: 0 })
    assert.deepEqual(await used(), { cpu: '0', pods: '0' })
    await send('DELETE', `${NAMESPACE}/resourcequotas/q`)
  })

  test('what a pod says for all of its containers counts in their place, and its overhead on top', async () => {
    await send('POST', '/apis/node.k8s.io/v1/runtimeclasses', {
      metadata: { name: 'sandboxed' },
      handler: 'sandboxed',
      overhead: { podFixed: { cpu: '100m', memory: '16Mi' } },
    })
    await send('POST', `${NAMESPACE}/resourcequotas`, {
      metadata: { name: 'q2' },
      spec: { hard: { 'requests.cpu': '1', 'limits.cpu': '2', 'requests.memory': '64Mi' } },
    })
    const whole = (name: string) => ({
      metadata: { name },
      spec: {
        runtimeClassName: 'sandboxed',
        resources: { requests: { cpu: '600m', memory: '32Mi' }, limits: { cpu: '1' } },
        // Says nothing about memory, and need not.
        containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '200m' } } }],
      },
    })
    assert.equal((await send('POST', `${NAMESPACE}/pods`, whole('whole'))).status, 201)
    const { status } = (await send('GET', `${NAMESPACE}/resourcequotas/q2`)).body
    assert.deepEqual(status.used, { 'requests.cpu': '700m', 'limits.cpu': '1100m', 'requests.memory': '48Mi' })
    const refused = await send('POST', `${NAMESPACE}/pods`, whole('more'))
    assert.match(refused.body.message, /requested: limits.cpu=1100m,requests.cpu=700m,requests.memory=48Mi, used: /)
    const silent = await send('POST', `${NAMESPACE}/pods`, pod('silent'))
    assert.match(silent.body.message, /must specify limits.cpu for: c; requests.memory for: c/)
  })

  test('a range judges and fills what a pod is resized to; other changes of a pod outside of it are taken', async () => {
    const ranges = `${NAMESPACE}/limitranges`
    const pods = `${NAMESPACE}/pods`
    await send('DELETE', `${NAMESPACE}/resourcequotas/q2`)
    // What a node has is looked at before a resize is taken.
    const allocatable = { cpu: '4', memory: '4Gi' }
    await send('POST', '/api/v1/nodes', { metadata: { name: 'node-1' }, status: { allocatable } })
    await send('POST', pods, pod('sized'))
    const limits = [{ type: 'Container', max: { cpu: '1' }, default: { memory: '64Mi', cpu: '1' } }]
    await send('POST', ranges, { metadata: { name: 'r' }, spec: { limits } })
    const resize = async (resources: object) => {
      const spec = { containers: [{ name: 'c', image: 'x', resources }] }
      return await send('PATCH', `${pods}/sized/resize`, { spec })
    }
    const grown = await resize({ requests: { cpu: '700m' } })
    assert.equal(grown.status, 200, grown.body.message)
    const filled = { requests: { cpu: '700m', memory: '64Mi' }, limits: { cpu: '1', memory: '64Mi' } }
    assert.deepEqual(grown.body.spec.containers[0].resources, filled)
    await send('PATCH', `${ranges}/r`, { spec: { limits: [{ type: 'Container', max: { cpu: '600m' } }] } })
    const refused = await resize({ ...filled, requests: { ...filled.requests, cpu: '650m' } })
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /maximum cpu usage per Container is 600m, but limit is 1\b/)
    assert.equal((await send('PATCH', `${pods}/sized`, { metadata: { labels: { a: 'b' } } })).status, 200)
    assert.equal((await send('DELETE', `${pods}/sized`, { gracePeriodSeconds: 0 })).status, 200)
  })
})
