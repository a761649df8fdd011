import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { request } from 'node:https'
import type { Duplex } from 'node:stream'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { encodeDataHead } from '../../../src/protocols/streams/spdy/spdy-frames.ts'
import { startFakeKubelet } from './fake-kubelet.ts'
import { createFolder, startSecuredApi } from './start-secured-api.ts'
import type { SecuredApi } from './start-secured-api.ts'

const POD = '/api/v1/namespaces/default/pods/web'
const SHELL = { upgrade: 'SPDY/3.1', connection: 'Upgrade', 'x-stream-protocol-version': 'v4.channel.k8s.io' }
const NEWEST = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  'sec-websocket-protocol': 'v5.channel.k8s.io',
}

interface Setup {
  readonly api: SecuredApi
  readonly asked: Awaited<ReturnType<typeof startFakeKubelet>>['asked']
}

async function setUp(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end('hello\n'),
  status: object = {},
): Promise<Setup> {
  const folder = createFolder(t)
  const api = await startSecuredApi(t, folder)
  const { port, asked } = await startFakeKubelet(t, folder, answer)
  const node = {
    metadata: { name: 'node-1' },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
      ...status,
    },
  }
  assert.equal((await api.call(api.admin, 'POST', '/api/v1/nodes', node)).status, 201)
  for (const [name, names] of [
    ['web', ['main']],
    ['two', ['a', 'b']],
  ] as const) {
    const containers = names.map((each) => ({ name: each, image: 'i' }))
    const pod = { metadata: { name }, spec: { containers } }
    assert.equal((await api.call(api.admin, 'POST', '/api/v1/namespaces/default/pods', pod)).status, 201)
  }
  return { api, asked }
}

/** Asks for another protocol: the connection when it is there, or the error. */
async function upgrade(api: SecuredApi, method: string, path: string, headers: object, secrets = api.admin) {
  const { cert, key } = secrets
  const sent = request(`${api.server}${path}`, {
    method,
    ca: api.authorityPem,
    ...(cert && key && { cert, key }),
    agent: false,
    headers: { ...headers },
  })
  sent.end()
  const answer = await Promise.race([once(sent, 'upgrade'), once(sent, 'response')])
  const [response, socket] = answer as [IncomingMessage, Duplex | undefined]
  if (socket !== undefined) return { status: response.statusCode, socket, message: '' }
  const { message } = JSON.parse(Buffer.concat(await response.toArray()).toString('utf8')) as { message: string }
  return { status: response.statusCode, socket, message }
}

describe('what kubelets answer', () => {
  test('a log comes from the kubelet, with what was asked of it', async (t) => {
    const { api, asked } = await setUp(t)
    const { status, body } = await api.call(api.admin, 'GET', `${POD}/log?follow=true&tailLines=5&container=main`)
    assert.deepEqual([status, body], [200, { text: 'hello\n' }])
    assert.deepEqual(
      asked.map(({ method, path, user }) => [method, path, user]),
      [['GET', '/containerLogs/default/web/main?follow=true&tailLines=5', 'kube-apiserver-kubelet-client']],
    )
    assert.equal(asked[0]?.headers.authorization, undefined)
  })

  test('a log that is followed comes line by line', async (t) => {
    let write: ((text: string) => void) | undefined
    const { api } = await setUp(t, (_, response) => {
      write = (text) => response.write(text)
      response.flushHeaders()
    })
    const sent = request(`${api.server}${POD}/log?follow=1`, { ca: api.authorityPem, ...secretsOf(api), agent: false })
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    for (const line of ['one\n', 'two\n']) {
      write?.(line)
      const [chunk] = (await once(response, 'data')) as [Buffer]
      assert.equal(String(chunk), line)
    }
    sent.destroy()
  })

  const rejected: readonly (readonly [what: string, path: string, code: number, message: string | RegExp])[] = [
    ['a pod that is not there', '/api/v1/namespaces/default/pods/x/log', 404, 'pods "x" not found'],
    ['a container that is not there', `${POD}/log?container=x`, 400, 'container x is not valid for pod web'],
    [
      'one of several containers without a name',
      '/api/v1/namespaces/default/pods/two/log',
      400,
      'a container name must be specified for pod two, choose one of: [a b]',
    ],
    ['lines that cannot be counted', `${POD}/log?tailLines=x`, 400, /invalid value for "tailLines"/],
    ['less than no lines', `${POD}/log?tailLines=-1`, 422, /PodLogOptions "web" is invalid: tailLines/],
    ['a shell without another protocol', `${POD}/exec?command=sh`, 400, 'Upgrade request required'],
    ['what the kubelet rejects', `${POD}/log`, 400, 'container "main" in pod "web" is waiting to start: Pulling'],
  ]
  test('refusals are in the words of the API', async (t) => {
    const { api } = await setUp(t, (_, response) => {
      response.statusCode = 400
      response.end('container "main" in pod "web" is waiting to start: Pulling')
    })
    for (const [what, path, code, message] of rejected) {
      await t.test(what, async () => {
        const { status, body } = await api.call(api.admin, 'GET', path)
        assert.deepEqual([status, body['kind'], body['code']], [code, 'Status', code])
        if (typeof message === 'string') assert.equal(body['message'], message)
        else assert.match(String(body['message']), message)
      })
    }
  })

  test('a kubelet that is not there is named', async (t) => {
    const { api } = await setUp(t)
    const status = { status: { daemonEndpoints: { kubeletEndpoint: { Port: 1 } } } }
    const merge = { ...api.admin, headers: { 'content-type': 'application/merge-patch+json' } }
    assert.equal((await api.call(merge, 'PATCH', '/api/v1/nodes/node-1/status', status)).status, 200)
    const { status: code, body } = await api.call(api.admin, 'GET', `${POD}/log`)
    assert.equal(code, 500)
    assert.match(String(body['message']), /error dialing backend: 127\.0\.0\.1:1: connect ECONNREFUSED/)
    const answer = await upgrade(api, 'POST', `${POD}/exec?command=sh&stdout=1`, SHELL)
    assert.equal(answer.status, 500)
    assert.match(answer.message, /error dialing backend: 127\.0\.0\.1:1/)
  })

  test('a kubelet with a certificate of another authority is not spoken to', async (t) => {
    const folder = createFolder(t)
    const api = await startSecuredApi(t, folder)
    const { port } = await startFakeKubelet(t, createFolder(t), (_, response) => response.end())
    const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }]
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } }
    await api.call(api.admin, 'POST', '/api/v1/nodes', { metadata: { name: 'node-1' }, status })
    const { status: code, body } = await api.call(api.admin, 'GET', '/api/v1/nodes/node-1/proxy/healthz')
    assert.equal(code, 500)
    assert.match(String(body['message']), /error dialing backend: .*(certificate|signature)/)
  })

  test('a shell is passed on as it is', async (t) => {
    const { api, asked } = await setUp(t)
    const query = 'container=main&command=sh&command=-c&command=a%26b&stdin=true&stdout=true&tty=false'
    const { status, socket } = await upgrade(api, 'POST', `${POD}/exec?${query}`, SHELL)
    assert.equal(status, 101)
    const frame = Buffer.concat([encodeDataHead(1, 14), Buffer.from('are you there?')])
    socket?.write(frame)
    assert.deepEqual((await once(socket as Duplex, 'data'))[0], frame)
    socket?.destroy()
    const [{ method, path, user, headers } = assert.fail()] = asked
    assert.deepEqual(
      [method, path, user],
      [
        'POST',
        '/exec/default/web/main?input=1&output=1&command=sh&command=-c&command=a%26b',
        'kube-apiserver-kubelet-client',
      ],
    )
    assert.equal(headers['x-stream-protocol-version'], 'v4.channel.k8s.io')
  })

  test('ports and attached streams have their own paths', async (t) => {
    const { api, asked } = await setUp(t)
    for (const path of ['/portforward', '/attach?stdout=true&stderr=true']) {
      const { socket } = await upgrade(api, 'GET', `${POD}${path}`, SHELL)
      socket?.destroy()
    }
    assert.deepEqual(
      asked.map(({ path }) => path),
      ['/portForward/default/web', '/attach/default/web/main?output=1&error=1'],
    )
  })

  test('the newest protocol is rejected for a kubelet that does not say that it speaks it', async (t) => {
    const { api } = await setUp(t)
    const { status, message } = await upgrade(api, 'GET', `${POD}/exec?command=sh&stdout=1`, NEWEST)
    assert.deepEqual(
      [status, message],
      [400, 'the kubelet of node "node-1" does not speak v5.channel.k8s.io over WebSocket: use SPDY'],
    )
  })

  test('the newest protocol is passed on to a kubelet that speaks it', async (t) => {
    const { api, asked } = await setUp(t, undefined, { declaredFeatures: ['ExtendWebSocketsToKubelet'] })
    const { status, socket } = await upgrade(api, 'GET', `${POD}/exec?command=sh&stdout=1`, NEWEST)
    assert.equal(status, 101)
    socket?.destroy()
    assert.equal(asked[0]?.headers['sec-websocket-protocol'], 'v5.channel.k8s.io')
  })

  test('a token among the protocols counts, and goes no further', async (t) => {
    const { api, asked } = await setUp(t, undefined, { declaredFeatures: ['ExtendWebSocketsToKubelet'] })
    const account = '/api/v1/namespaces/default/serviceaccounts/default/token'
    const { body } = await api.call(api.admin, 'POST', account, { spec: {} })
    const { token } = body['status'] as { token: string }
    const protocols = `v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
    const headers = { ...NEWEST, 'sec-websocket-protocol': protocols }
    const { status, message } = await upgrade(api, 'GET', `${POD}/exec?command=sh&stdout=1`, headers, {})
    assert.equal(status, 403)
    assert.match(message, /User "system:serviceaccount:default:default" cannot get resource "pods\/exec"/)
    const { socket } = await upgrade(api, 'GET', `${POD}/exec?command=sh&stdout=1`, headers)
    socket?.destroy()
    assert.equal(asked[0]?.headers['sec-websocket-protocol'], 'v5.channel.k8s.io')
  })

  test('no client gets a shell without credentials, and nodes get none', async (t) => {
    const { api, asked } = await setUp(t)
    assert.equal((await upgrade(api, 'POST', `${POD}/exec?command=sh&stdout=1`, SHELL, {})).status, 401)
    assert.equal((await upgrade(api, 'POST', `${POD}/exec?command=sh&stdout=1`, SHELL, api.node)).status, 403)
    assert.deepEqual(asked, [])
  })

  test('the rest of a path goes to the kubelet of a node as it was written', async (t) => {
    const { api, asked } = await setUp(t)
    const path = '/api/v1/nodes/node-1/proxy/stats//summary%2Fx?only_cpu_and_memory=true&a=%20'
    const { status, body } = await api.call(api.admin, 'GET', path)
    assert.deepEqual([status, body], [200, { text: 'hello\n' }])
    assert.equal(asked[0]?.path, '/stats//summary%2Fx?only_cpu_and_memory=true&a=%20')
  })

  test('bodies reach what is behind a proxy, and its answer comes back with its status', async (t) => {
    const { api } = await setUp(t, (request, response) => {
      response.writeHead(418, { 'x-from': 'kubelet' })
      request.pipe(response)
    })
    const { status, body } = await api.call(api.admin, 'POST', '/api/v1/nodes/node-1/proxy/run', 'a body')
    assert.deepEqual([status, body], [418, { text: 'a body' }])
  })

  test('a proxy to what only the machine itself may reach is rejected', async (t) => {
    const { api } = await setUp(t)
    const merge = { ...api.admin, headers: { 'content-type': 'application/merge-patch+json' } }
    await api.call(merge, 'PATCH', `${POD}/status`, { status: { podIPs: [{ ip: '127.0.0.1' }] } })
    for (const path of [`${POD}:80/proxy/`, '/api/v1/nodes/node-1:22/proxy/']) {
      const { status, body } = await api.call(api.admin, 'GET', path)
      assert.deepEqual([status, body['message']], [400, 'address not allowed'])
    }
  })
})

function secretsOf({ admin: { cert = '', key = '' } }: SecuredApi) {
  return { cert, key }
}
