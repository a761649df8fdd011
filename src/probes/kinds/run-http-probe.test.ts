import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { selfSigned } from '../../../test/fixtures/self-signed.ts'
import { systemClock } from '../../async/clock.ts'
import { runHttpProbe } from './run-http-probe.ts'
import type { HttpProbeTarget } from './run-http-probe.ts'

const never = new AbortController().signal
const deps = { clock: systemClock }

async function serve(t: TestContext, answer: RequestListener, host = '127.0.0.1'): Promise<HttpProbeTarget> {
  const server = createServer(answer).listen(0, host)
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { scheme: 'http', host, port, path: '/', headers: [], timeoutSeconds: 5 }
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
      assert.deepEqual(await runHttpProbe(deps, target, never), { result, output })
    })
  }
})

describe('runHttpProbe() sends', () => {
  const rows: readonly (readonly [
    name: string,
    headers: HttpProbeTarget['headers'],
    expected: (port: number) => Partial<Record<string, string>>,
  ])[] = [
    [
      'who it is and what it takes',
      [],
      (port) => ({ host: `127.0.0.1:${port}`, 'user-agent': 'kube-probe/1.36', accept: '*/*' }),
    ],
    [
      'given headers in their place',
      [
        { name: 'user-agent', value: 'me' },
        { name: 'ACCEPT', value: 'text/plain' },
        { name: 'Host', value: 'web.test' },
      ],
      () => ({ host: 'web.test', 'user-agent': 'me', accept: 'text/plain' }),
    ],
    [
      'no empty Accept or User-Agent',
      [
        { name: 'Accept', value: '' },
        { name: 'User-Agent', value: '' },
      ],
      (port) => ({ host: `127.0.0.1:${port}` }),
    ],
    [
      'a header twice',
      [
        { name: 'X-A', value: '1' },
        { name: 'x-a', value: '2' },
      ],
      (port) => ({ host: `127.0.0.1:${port}`, 'user-agent': 'kube-probe/1.36', accept: '*/*', 'x-a': '1, 2' }),
    ],
  ]
  for (const [name, headers, expected] of rows) {
    test(name, async (t) => {
      let seen: IncomingMessage | undefined
      const target = await serve(t, (request, response) => {
        seen = request
        response.end()
      })
      await runHttpProbe(deps, { ...target, headers, path: '/a?b=c' }, never)
      assert.equal(seen?.url, '/a?b=c')
      assert.deepEqual({ ...seen?.headers }, { ...expected(target.port), connection: 'close' })
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
    const target = { scheme: 'https', host: '127.0.0.1', port, path: '/', headers, timeoutSeconds: 5 } as const
    assert.deepEqual(await runHttpProbe(deps, target, never), { result: 'success', output: 'safe' })
    const { result } = await runHttpProbe(deps, { ...target, host: 'localhost' }, never)
    assert.equal(result, 'success')
    assert.deepEqual(names, [false, 'localhost'], 'the name of the place, not of the header')
  })

  test('speaks IPv6', async (t) => {
    const target = await serve(t, (request, response) => response.end(request.headers.host), '::1')
    assert.deepEqual(await runHttpProbe(deps, target, never), { result: 'success', output: `[::1]:${target.port}` })
  })

  test('follows a redirect on the same host, and takes one to another as a warning', async (t) => {
    const target = await serve(t, ({ url }, response) => {
      if (url === '/here') response.end('there')
      else response.writeHead(302, { location: url === '/away' ? 'http://other.test/' : '/here' }).end('moved')
    })
    assert.deepEqual(await runHttpProbe(deps, target, never), { result: 'success', output: 'there' })
    assert.deepEqual(await runHttpProbe(deps, { ...target, path: '/away' }, never), {
      result: 'warning',
      output: 'Probe terminated redirects, Response body: moved',
    })
  })

  test('redirects without end are a failure', async (t) => {
    const target = await serve(t, (_, response) => response.writeHead(302, { location: '/' }).end())
    const { result, output } = await runHttpProbe(deps, target, never)
    assert.equal(result, 'failure')
    assert.match(output, /more than 10 redirects/)
  })

  test('reads no more than 10 KiB of an answer that does not end', async (t) => {
    const target = await serve(t, (_, response: ServerResponse) => void response.write('x'.repeat(20_000)))
    assert.deepEqual(await runHttpProbe(deps, target, never), { result: 'success', output: 'x'.repeat(10_240) })
  })

  test('an answer that breaks off is an error', async (t) => {
    const target = await serve(t, ({ socket }, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('begin', () => socket.destroy())
    })
    const outcome = await runHttpProbe(deps, target, never)
    assert.deepEqual([outcome.result, 'state' in outcome && outcome.state], ['error', 'failure'])
    assert.match(outcome.output, /^Cannot read the answer: /)
  })

  test('no answer in time is a failure', async (t) => {
    const target = await serve(t, () => {})
    const clock = { ...systemClock, sleep: async () => {} }
    assert.deepEqual(await runHttpProbe({ clock }, target, never), {
      result: 'failure',
      output: `Get "http://127.0.0.1:${target.port}/": context deadline exceeded (Client.Timeout exceeded while awaiting the answer)`,
    })
  })

  test('nobody there is a failure', async () => {
    const target = { scheme: 'http', host: '127.0.0.1', port: 9, path: 'x', headers: [], timeoutSeconds: 5 } as const
    assert.deepEqual(await runHttpProbe(deps, target, never), {
      result: 'failure',
      output: 'Get "http://127.0.0.1:9/x": dial tcp 127.0.0.1:9: connect: connection refused',
    })
    assert.deepEqual(await runHttpProbe(deps, { ...target, host: '' }, never), {
      result: 'failure',
      output: 'Get "http://:9/x": the pod has no address',
    })
  })

  test('rejects with the reason when it is no longer wanted', async (t) => {
    const stop = new AbortController()
    const reason = new Error('ended')
    const target = await serve(t, () => stop.abort(reason))
    await assert.rejects(runHttpProbe(deps, target, stop.signal), reason)
  })
})
