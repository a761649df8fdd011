import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { selfSigned } from '../../../../test/fixtures/self-signed.ts'
import { systemClock } from '../../../base/async/clock.ts'
import type { HttpGetRequest } from '../../../protocols/http/http-get.ts'
import { podNetwork } from '../pod-network.ts'
import { runHttpProbe } from './run-http-probe.ts'

const never = new AbortController().signal
const deps = { network: podNetwork, clock: systemClock }
const probe = (request: HttpGetRequest, signal = never) => runHttpProbe(deps, { request, timeoutSeconds: 5 }, signal)

async function serve(t: TestContext, answer: RequestListener, host = '127.0.0.1'): Promise<HttpGetRequest> {
  const server = createServer(answer).listen(0, host)
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { scheme: 'http', host, port, path: '/', headers: [], maxBodyBytes: 10_240 }
}

describe('runHttpProbe() judges by the status', () => {
  const rows: readonly (readonly [status: number, result: string, output: string])[] = [
    [200, 'success', 'body'],
    [204, 'success', ''],
    [299, 'success', 'body'],
    [300, 'warning', 'Probe terminated redirects, Response body: body'],
    [304, 'warning', 'Probe terminated redirects, Response body: '],
    [399, 'warning', 'Probe terminated redirects, Response body: body'],
    [400, 'failure', 'HTTP probe failed with statuscode: 400'],
    [404, 'failure', 'HTTP probe failed with statuscode: 404'],
    [503, 'failure', 'HTTP probe failed with statuscode: 503'],
  ]
  for (const [status, result, output] of rows) {
    test(String(status), async (t) => {
      const target = await serve(t, (_, response) => response.writeHead(status).end('body'))
      assert.deepEqual(await probe(target), { result, output })
    })
  }
})

describe('runHttpProbe()', () => {
  test('speaks TLS, and trusts any certificate', async (t) => {
    const names: unknown[] = []
    const server = createTlsServer(selfSigned, ({ socket }, response) => {
      names.push((socket as TLSSocket).servername)
      response.end('safe')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const headers = [{ name: 'Host', value: 'other.test' }]
    const target = { scheme: 'https', host: '127.0.0.1', port, path: '/', headers, maxBodyBytes: 100 } as const
    assert.deepEqual(await probe(target), { result: 'success', output: 'safe' })
    const { result } = await probe({ ...target, host: 'localhost' })
    assert.equal(result, 'success')
    assert.deepEqual(names, [false, 'localhost'], 'the name of the place, not of the header')
  })

  test('speaks IPv6', async (t) => {
    const target = await serve(t, (request, response) => response.end(request.headers.host), '::1')
    assert.deepEqual(await probe(target), { result: 'success', output: `[::1]:${target.port}` })
  })

  test('follows a redirect on the same host, and takes one to another as a warning', async (t) => {
    const target = await serve(t, ({ url }, response) => {
      if (url === '/here') response.end('there')
      else response.writeHead(302, { location: url === '/away' ? 'http://other.test/' : '/here' }).end('moved')
    })
    assert.deepEqual(await probe(target), { result: 'success', output: 'there' })
    assert.deepEqual(await probe({ ...target, path: '/away' }), {
      result: 'warning',
      output: 'Probe terminated redirects, Response body: moved',
    })
  })

  test('redirects without end are a failure', async (t) => {
    const target = await serve(t, (_, response) => response.writeHead(302, { location: '/' }).end())
    const { result, output } = await probe(target)
    assert.equal(result, 'failure')
    assert.match(output, /: stopped after 10 redirects$/)
  })

  test('reads no more than 10 KiB of an answer that does not end', async (t) => {
    const target = await serve(t, (_, response: ServerResponse) => void response.write('x'.repeat(20_000)))
    assert.deepEqual(await probe(target), { result: 'success', output: 'x'.repeat(10_240) })
  })

  test('an answer that breaks off is an error', async (t) => {
    const target = await serve(t, ({ socket }, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('begin', () => socket.destroy())
    })
    const outcome = await probe(target)
    assert.deepEqual([outcome.result, 'state' in outcome && outcome.state], ['error', 'failure'])
    assert.match(outcome.output, /^Cannot read the answer: /)
  })

  test('no answer in time is a failure', async (t) => {
    const target = await serve(t, () => {})
    const clock = { ...systemClock, sleep: async () => {} }
    assert.deepEqual(
      await runHttpProbe({ network: podNetwork, clock }, { request: target, timeoutSeconds: 5 }, never),
      {
        result: 'failure',
        output: `Get "http://127.0.0.1:${target.port}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
      },
    )
  })

  test('no listener is a failure', async () => {
    const target = { scheme: 'http', host: '127.0.0.1', port: 9, path: 'x', headers: [], maxBodyBytes: 10_240 } as const
    assert.deepEqual(await probe(target), {
      result: 'failure',
      output: 'Get "http://127.0.0.1:9/x": dial tcp 127.0.0.1:9: connect: connection refused',
    })
  })

  test('rejects with the reason when it is no longer wanted', async (t) => {
    const stop = new AbortController()
    const reason = new Error('ended')
    const target = await serve(t, () => stop.abort(reason))
    await assert.rejects(probe(target, stop.signal), reason)
  })
})
