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
  })
})
