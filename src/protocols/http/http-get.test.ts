import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { httpGet, PlainHttpError } from './http-get.ts'

const never = new AbortController().signal

async function serve(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { scheme: 'http', host: '127.0.0.1', port, path: '/', headers: [], maxBodyBytes: 1000 } as const
}

describe('httpGet()', () => {
  test('sends path, query and headers as they are, and takes any status', async (t) => {
    let seen: IncomingMessage | undefined
    const target = await serve(t, (request, response) => {
      seen = request
      response.writeHead(503).end('not now')
    })
    const headers = [
      { name: 'X-A', value: '1' },
      { name: 'x-a', value: '1' },
      { name: 'Host', value: 'web.test' },
    ]
    const answer = await httpGet({ ...target, path: 'a/../b c?q=ä#top', headers }, never)
    assert.deepEqual(answer, { status: 503, body: 'not now' })
    assert.equal(seen?.url, '/a/../b%20c?q=%C3%A4')
    assert.deepEqual(
      [seen?.headers['x-a'], seen?.headers.host, seen?.headers.connection],
      ['1, 1', 'web.test', 'close'],
    )
  })

  test('follows a redirect to the same host', async (t) => {
    const target = await serve(t, (request, response) => {
      if (request.url === '/new?x=1') response.end('here')
      else response.writeHead(302, { location: '/new?x=1' }).end()
    })
    assert.deepEqual(await httpGet(target, never), { status: 200, body: 'here' })
  })

  for (const location of ['http://other.test/', 'file:///etc/passwd', 'http://[']) {
    test(`takes a redirect to ${location} as the answer`, async (t) => {
      const target = await serve(t, (_, response) => response.writeHead(301, { location }).end('moved'))
      assert.deepEqual(await httpGet(target, never), { status: 301, body: 'moved' })
    })
  }

  test('gives up after ten redirects', async (t) => {
    let asked = 0
    const target = await serve(t, (_, response) => {
      asked += 1
      response.writeHead(302, { location: '/' }).end()
    })
    await assert.rejects(httpGet(target, never), /stopped after 10 redirects/)
    assert.equal(asked, 11)
  })

  test('reads no more of a body than it may, however much comes', async (t) => {
    const target = await serve(t, (_, response) => {
      const more = (): void =>
        void (response.write('x'.repeat(600)) ? setImmediate(more) : response.once('drain', more))
      more()
    })
    assert.equal((await httpGet(target, never)).body.length, 1000)
  })

  test('knows a plain answer to HTTPS', async (t) => {
    const target = await serve(t, (_, response) => response.end())
    await assert.rejects(httpGet({ ...target, scheme: 'https' }, never), PlainHttpError)
  })

  test('ends with its signal', async (t) => {
    const reason = new Error('enough')
    const controller = new AbortController()
    const target = await serve(t, () => controller.abort(reason))
    await assert.rejects(httpGet(target, controller.signal), (error) => error === reason)
  })

  test('fails when nothing listens', async (t) => {
    const target = await serve(t, () => {})
    await assert.rejects(httpGet({ ...target, port: 1 }, never), { code: 'ECONNREFUSED' })
  })
})
