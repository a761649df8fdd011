import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { createTestClient, until } from '../kube-api/create-test-client.ts'
import { Wire } from '../kube-api/scripted-server.ts'
import { createChance, createHostileRequest } from './hostile-requests.ts'
import { startSecuredApi } from './start-secured-api.ts'
import type { ClientSecrets, SecuredApi } from './start-secured-api.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const never = new AbortController().signal

async function open(t: TestContext, api: SecuredApi, { cert, key }: ClientSecrets): Promise<ClientHttp2Session> {
  const session = connect(api.server, { ca: api.authorityPem, cert, key })
  session.on('error', () => {})
  t.after(() => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

interface Answer {
  readonly status: number
  readonly text: string
}

async function answerOf(stream: ClientHttp2Stream, signal = never): Promise<Answer> {
  stream.setEncoding('utf8')
  const [headers] = (await once(stream, 'response', { signal })) as [IncomingHttpHeaders]
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return { status: Number(headers[':status']), text }
}

/** Undefined when the connection or the stream was ended instead of an answer. */
async function tryAnswerOf(stream: ClientHttp2Stream): Promise<Answer | undefined> {
  const closed = new AbortController()
  stream.once('close', () => closed.abort())
  try {
    return await answerOf(stream, closed.signal)
  } catch {
    return undefined
  }
}

describe('the API over HTTP/2', () => {
  test('knows a client by its certificate, and announces how much it takes at once', async (t) => {
    const api = await startSecuredApi(t)
    const session = await open(t, api, api.node)
    const review = session.request({ ':method': 'POST', ':path': '/apis/authentication.k8s.io/v1/selfsubjectreviews' })
    review.end('{}')
    const { status, text } = await answerOf(review)
    const { username } = (JSON.parse(text) as { status: { userInfo: { username: string } } }).status.userInfo
    assert.deepEqual([status, username], [201, 'system:node:node-1'])
    assert.deepEqual(
      [session.remoteSettings.maxConcurrentStreams, session.remoteSettings.maxHeaderListSize],
      [250, 32_768],
    )
  })

  test('200 watches of our own client share a connection, and each gets the events of what it watches', async (t) => {
    const api = await startSecuredApi(t)
    const wire = new Wire(() => Number(new URL(api.server).port))
    await wire.listen(t)
    const { cert: certificatePem = '', key: keyPem = '' } = api.admin
    const { client } = createTestClient(t, {
      port: wire.port,
      clock: systemClock,
      serverName: 'localhost',
      readTrust: async () => ({ kind: 'authorities', pem: api.authorityPem }),
      credentials: {
        current: async () => ({ certificate: { certificatePem, keyPem }, headers: {} }),
        onUnauthorized: async () => false,
      },
    })
    const leave = new AbortController()
    const heard: number[] = []
    const query = { fieldSelector: 'metadata.name=a' }
    const ends = Array.from({ length: 200 }, async (_, index) => {
      for await (const _event of client.watch({ path: MAPS, query }, leave.signal)) heard.push(index)
    })
    for (const end of ends) end.catch(() => {})
    await client.send({ method: 'POST', path: MAPS, body: { metadata: { name: 'a' } } }, never)
    await until(() => heard.length === 200)
    assert.equal(new Set(heard).size, 200)
    assert.equal(wire.connections, 1)
    leave.abort(new Error('enough'))
    await Promise.allSettled(ends)
  })

  test('rejects a body that is too large, and the connection goes on', async (t) => {
    const api = await startSecuredApi(t)
    const session = await open(t, api, api.admin)
    const huge = session.request({ ':method': 'POST', ':path': MAPS })
    huge.on('error', () => {})
    const answer = answerOf(huge)
    huge.end(Buffer.alloc(4 * 1024 * 1024, ' '))
    assert.equal((await answer).status, 413)
    assert.equal((await answerOf(session.request({ ':path': MAPS }))).status, 200)
  })

  test('a reader that does not read holds up no other', async (t) => {
    const api = await startSecuredApi(t)
    const session = await open(t, api, api.admin)
    const slow = session.request({ ':path': `${MAPS}?watch=true` })
    slow.on('error', () => {})
    await once(slow, 'response')
    slow.pause()
    const data = { a: 'x'.repeat(100_000) }
    for (let index = 0; index < 10; index += 1) {
      const post = session.request({ ':method': 'POST', ':path': MAPS })
      post.end(JSON.stringify({ metadata: { name: `m${index}` }, data }))
      assert.equal((await answerOf(post)).status, 201)
    }
    let text = ''
    slow.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    slow.resume()
    await until(() => text.includes('"name":"m9"') && text.endsWith('\n'))
    slow.close(constants.NGHTTP2_CANCEL)
  })

  test('a client that cancels its requests at once, again and again, is disconnected', async (t) => {
    const api = await startSecuredApi(t)
    const rude = await open(t, api, api.admin)
    const gone = new Promise((resolve) => rude.once('close', resolve))
    for (let round = 0; round < 30 && !rude.destroyed; round += 1) {
      for (let index = 0; index < 100 && !rude.destroyed && !rude.closed; index += 1) {
        const stream = rude.request({ ':path': '/healthz' })
        stream.on('error', () => {})
        stream.close(constants.NGHTTP2_CANCEL)
      }
      if (!rude.destroyed) await new Promise<void>((resolve) => rude.ping(() => resolve()) || resolve())
    }
    await gone
    const polite = await open(t, api, api.admin)
    assert.equal((await answerOf(polite.request({ ':path': '/healthz' }))).status, 200)
  })

  test('hostile requests get a Status, or their stream is reset; others are served all the same', async (t) => {
    const api = await startSecuredApi(t)
    const polite = await open(t, api, api.admin)
    const chance = createChance(20_261_117)
    const codes = new Map<number | undefined, number>()
    let session = await open(t, api, api.admin)
    for (let count = 0; count < 400; count += 1) {
      if (session.closed || session.destroyed) session = await open(t, api, api.admin)
      const { method, target, type, accept, body } = createHostileRequest(chance)
      const head = { ':method': method, ':path': target, 'content-type': type, accept }
      const stream = session.request(head, { endStream: false })
      stream.end(body)
      const answer = await tryAnswerOf(stream)
      codes.set(answer?.status, (codes.get(answer?.status) ?? 0) + 1)
      if (answer === undefined || answer.status < 400 || answer.text === '') continue
      const { kind, code } = JSON.parse(answer.text) as { kind: string; code: number }
      assert.deepEqual([kind, code], ['Status', answer.status], `${method} ${target}`)
    }
    assert.equal((await answerOf(polite.request({ ':path': '/healthz' }))).status, 200)
    t.diagnostic(JSON.stringify([...codes]))
    assert.ok(codes.size > 6 && (codes.get(undefined) ?? 0) < 100, JSON.stringify([...codes]))
  })
})
