import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { Server, ServerCredentials, status } from '@grpc/grpc-js'
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js'
import { systemClock } from '../../base/async/clock.ts'
import { checkGrpcHealth } from './check-grpc-health.ts'
import { HealthDefinition } from './generated/grpc-health.ts'
import type { HealthCheckRequest, HealthCheckResponse } from './generated/grpc-health.ts'
import { toGrpcMethod } from './grpc-method.ts'

type Call = ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>
type Answer = (call: Call, reply: sendUnaryData<HealthCheckResponse>) => void

const never = new AbortController().signal

async function serve(t: TestContext, answer: Answer | undefined, host = '127.0.0.1') {
  const server = new Server()
  const definition = { check: toGrpcMethod(HealthDefinition.fullName, HealthDefinition.methods.check) }
  if (answer !== undefined) server.addService(definition, { check: answer })
  const address = host.includes(':') ? `[${host}]:0` : `${host}:0`
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  )
  t.after(() => server.forceShutdown())
  return { host, port, service: 'shop', timeoutMs: 5000, userAgent: 'kube-probe/1.36' }
}

describe('checkGrpcHealth()', () => {
  for (const host of ['127.0.0.1', '::1']) {
    test(`asks for the service, and says who asks, at ${host}`, async (t) => {
      const seen: unknown[] = []
      const request = await serve(
        t,
        (call, reply) => {
          seen.push(call.request.service, String(call.metadata.get('user-agent')[0]).split(' ')[0])
          reply(null, { status: 1 })
        },
        host,
      )
      assert.deepEqual(await checkGrpcHealth(systemClock, request, never), { kind: 'answered', status: 'SERVING' })
      assert.deepEqual(seen, ['shop', 'kube-probe/1.36'])
    })
  }

  test('gives any other status by its name', async (t) => {
    const request = await serve(t, (_, reply) => reply(null, { status: 2 }))
    assert.deepEqual(await checkGrpcHealth(systemClock, request, never), { kind: 'answered', status: 'NOT_SERVING' })
  })

  test('reports a server without the health service', async (t) => {
    const request = await serve(t, undefined)
    assert.equal((await checkGrpcHealth(systemClock, request, never)).kind, 'unimplemented')
  })

  test('reports a call that failed', async (t) => {
    const request = await serve(t, (_, reply) => reply({ code: status.NOT_FOUND, details: 'unknown service' }))
    assert.deepEqual(await checkGrpcHealth(systemClock, request, never), {
      kind: 'call-failed',
      detail: 'unknown service',
    })
  })

  test('reports a call that does not end', async (t) => {
    const asked = Promise.withResolvers<void>()
    const request = await serve(t, () => asked.resolve())
    // Time is over when the call has arrived.
    const clock = { ...systemClock, sleep: () => asked.promise }
    assert.equal((await checkGrpcHealth(clock, request, never)).kind, 'call-timeout')
  })

  test('reports a server that is not there', async (t) => {
    const request = await serve(t, undefined)
    const { kind } = await checkGrpcHealth(systemClock, { ...request, port: 9 }, never)
    assert.equal(kind, 'connect-failed')
  })

  test('reports a server that accepts the connection and says nothing', async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const arrived = once(server, 'connection')
    t.after(() => server.close())
    const clock = { ...systemClock, sleep: () => arrived.then(([socket]) => t.after(() => socket.destroy())) }
    const { port } = server.address() as AddressInfo
    const request = { host: '127.0.0.1', port, service: '', timeoutMs: 1000, userAgent: '' }
    assert.equal((await checkGrpcHealth(clock, request, never)).kind, 'connect-timeout')
  })

  test('rejects with the reason when it is no longer wanted', async (t) => {
    const stop = new AbortController()
    const reason = new Error('ended')
    const request = await serve(t, () => stop.abort(reason))
    await assert.rejects(checkGrpcHealth(systemClock, request, stop.signal), reason)
  })
})
