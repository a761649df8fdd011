import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import type { SpanAttributes, SpanOptions, Tracer } from '../../base/telemetry/tracer.ts'
import { traceRequest } from './trace-request.ts'

const REMOTE = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true }
const traceparent = `00-${REMOTE.traceId}-${REMOTE.spanId}-01`
const route = { path: '/logs/:namespace/*rest', methods: ['GET'], async handle() {} }
const attributes = { 'http.request.method': 'GET', 'http.route': '/logs/{namespace}/{rest}' }

async function trace(type: 'readonly' | 'readwrite', headers: Readonly<Record<string, string>>) {
  const spans: { readonly name: string; readonly options: SpanOptions; readonly set: SpanAttributes }[] = []
  const tracer: Tracer = {
    async span(name, options, work) {
      let set: SpanAttributes = {}
      try {
        return await work({ context: undefined, set: (more) => void (set = more) })
      } finally {
        spans.push({ name, options, set })
      }
    },
  }
  const request = { method: 'GET', headers } as unknown as IncomingMessage
  assert.equal(await traceRequest({ tracer, type }, { request, route, code: () => 204 }, async () => 5), 5)
  return spans
}

describe('traceRequest()', () => {
  const rows = [
    ['the trace of a client that was let in goes on', 'readwrite', { traceparent }, { parent: REMOTE }],
    ['on the open port it is only named', 'readonly', { traceparent }, { link: REMOTE }],
    ['a header that says nothing is none', 'readwrite', { traceparent: 'x' }, { parent: undefined }],
  ] as const
  for (const [name, type, headers, expected] of rows) {
    test(name, async () => {
      assert.deepEqual(await trace(type, headers), [
        {
          name: '/logs/{namespace}/{rest}',
          options: { kind: 'server', attributes, ...expected },
          set: { 'http.response.status_code': 204 },
        },
      ])
    })
  }

  test('does nothing but the work where nothing is traced', async () => {
    const request = { method: 'GET', headers: {} } as unknown as IncomingMessage
    assert.equal(await traceRequest({ type: 'readonly' }, { request, route, code: () => 200 }, async () => 5), 5)
  })
})
