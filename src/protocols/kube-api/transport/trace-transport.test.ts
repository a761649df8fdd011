import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SpanAttributes, Tracer } from '../../../base/telemetry/tracer.ts'
import { traceTransport } from './trace-transport.ts'
import type { Transport, TransportRequest } from './transport.ts'

const CONTEXT = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true }

test('traceTransport() shows each request, and sends the trace to the server', async () => {
  const sent: TransportRequest[] = []
  const closed: string[] = []
  const transport: Transport = {
    host: 'api:6443',
    async request(request) {
      sent.push(request)
      return { status: 201, retryAfter: undefined, body: (async function* () {})() }
    },
    closeAll: (why) => void closed.push(why),
  }
  const spans: unknown[] = []
  const tracer: Tracer = {
    async span(name, { kind, attributes }, work) {
      let set: SpanAttributes = {}
      const result = await work({ context: CONTEXT, set: (more) => void (set = more) })
      spans.push([name, kind, { ...attributes, ...set }])
      return result
    },
  }
  const traced = traceTransport(transport, tracer)
  const request = {
    method: 'POST',
    target: '/api/v1/nodes?dryRun=All',
    headers: { accept: 'x' },
    body: undefined,
    isWatch: false,
  }
  const { status } = await traced.request(request, new AbortController().signal)
  traced.closeAll('over')
  assert.equal(status, 201)
  assert.deepEqual(sent, [
    { ...request, headers: { accept: 'x', traceparent: `00-${CONTEXT.traceId}-${CONTEXT.spanId}-01` } },
  ])
  const attributes = {
    'http.request.method': 'POST',
    'server.address': 'api:6443',
    'url.path': '/api/v1/nodes',
    'http.response.status_code': 201,
  }
  assert.deepEqual(spans, [['HTTP POST', 'client', attributes]])
  assert.deepEqual([traced.host, closed], ['api:6443', ['over']])
})
