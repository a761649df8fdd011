import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ShutdownError } from '../../src/base/async/abort-errors.ts'
import type { Span } from '../../src/protocols/tracing/generated/otlp-trace.ts'
import { SpanKind } from '../../src/protocols/tracing/generated/otlp-trace.ts'
import { createTracing } from '../../src/protocols/tracing/create-tracing.ts'
import { FakeClock } from '../fakes/fake-clock.ts'
import { FakeCollector, toAttributes } from '../fakes/fake-collector.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { startAgent } from './create-agent.ts'
import { createWantedPod, createWorld } from './create-world.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** Tracing to a collector; `flush` sends it all spans that ended. */
function trace(endpoint: string, samplingRatePerMillion = 1_000_000) {
  const clock = new FakeClock()
  const counts = { exported: 0, dropped: 0 }
  const stop = new AbortController()
  const tracing = createTracing({
    endpoint,
    samplingRatePerMillion,
    attributes: { 'service.name': 'kubelet', 'host.name': 'node-1' },
    version: 'v1.36.4',
    metrics: {
      spansExported: (count) => void (counts.exported += count),
      spansDropped: (count) => void (counts.dropped += count),
    },
    clock,
    log: silentLogger,
  })
  const running = tracing.run(stop.signal)
  return {
    tracer: tracing.tracer,
    counts,
    flush: async () => {
      stop.abort(new ShutdownError())
      await assert.rejects(running, ShutdownError)
      tracing[Symbol.dispose]()
    },
  }
}

function parentName(spans: readonly Span[], { parentSpanId }: Span): string | undefined {
  return spans.find(({ spanId }) => hex(spanId) === hex(parentSpanId))?.name
}

describe('tracing', () => {
  test('shows the start of a pod with the calls to the runtime below it, and the runtime can go on from there', async () => {
    using collector = await FakeCollector.start()
    const { tracer, counts, flush } = trace(collector.endpoint)
    await using world = await createWorld({ images: [] })
    await using agent = await startAgent(world, { tracer })
    agent.setPods([createWantedPod()])
    await agent.settle()
    await flush()
    const { spans } = collector
    assert.equal(counts.exported, spans.length)
    const sandbox = spans.find(({ name }) => name === 'runtime.v1.RuntimeService/RunPodSandbox')
    assert.ok(sandbox !== undefined)
    assert.equal(parentName(spans, sandbox), 'syncPod')
    assert.equal(sandbox.kind, SpanKind.SPAN_KIND_CLIENT)
    assert.deepEqual(toAttributes(sandbox.attributes), {
      'rpc.system': 'grpc',
      'rpc.service': 'runtime.v1.RuntimeService',
      'rpc.method': 'RunPodSandbox',
    })
    const reported = world.cri.traceparents.find(({ method }) => method === 'runPodSandbox')
    assert.equal(reported?.traceparent, `00-${hex(sandbox.traceId)}-${hex(sandbox.spanId)}-01`)
    const pull = spans.find(({ name }) => name === 'runtime.v1.ImageService/PullImage')
    assert.equal(hex(pull?.traceId ?? new Uint8Array()), hex(sandbox.traceId))
    const sync = spans.find(({ name }) => name === 'syncPod')
    assert.deepEqual(toAttributes(sync?.attributes ?? []), {
      'k8s.pod.uid': 'u-1',
      'k8s.pod': 'shop/pod-u-1',
      'k8s.pod.name': 'pod-u-1',
      'k8s.namespace.name': 'shop',
    })
    const [resource] = collector.requests[0]?.resourceSpans ?? []
    assert.deepEqual(toAttributes(resource?.resource?.attributes ?? []), {
      'service.name': 'kubelet',
      'host.name': 'node-1',
    })
  })

  test('shows the end of a pod', async () => {
    using collector = await FakeCollector.start()
    const { tracer, flush } = trace(collector.endpoint)
    await using world = await createWorld()
    await using agent = await startAgent(world, { tracer })
    agent.setPods([createWantedPod()])
    await agent.settle()
    agent.setPods([])
    await agent.pass(40_000, 10_000)
    await flush()
    const { spans } = collector
    const stop = spans.find(({ name }) => name === 'runtime.v1.RuntimeService/StopContainer')
    assert.equal(stop && parentName(spans, stop), 'syncTerminatingPod')
    const remove = spans.find(({ name }) => name === 'runtime.v1.RuntimeService/RemovePodSandbox')
    assert.equal(remove && parentName(spans, remove), 'syncTerminatedPod')
  })

  test('sends nothing that is not sampled, and passes that on to the runtime', async () => {
    using collector = await FakeCollector.start()
    const { tracer, flush } = trace(collector.endpoint, 0)
    await using world = await createWorld()
    await using agent = await startAgent(world, { tracer })
    agent.setPods([createWantedPod()])
    await agent.settle()
    await flush()
    assert.deepEqual(collector.requests, [])
    assert.ok(world.cri.traceparents.length > 0)
    assert.deepEqual(
      world.cri.traceparents.filter(({ traceparent }) => !traceparent.endsWith('-00')),
      [],
    )
  })

  test('drops what a collector that is away does not take', async () => {
    using collector = await FakeCollector.start()
    collector.isBroken = true
    const { tracer, counts, flush } = trace(collector.endpoint)
    await tracer.span('x', {}, async () => {})
    await flush()
    assert.deepEqual(counts, { exported: 0, dropped: 1 })
  })

  for (const scheme of ['unix', 'unix-abstract']) {
    test(`reaches a collector at a ${scheme} address`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'tracing-'))
      t.after(() => rmSync(folder, { recursive: true }))
      const path = join(folder, 'otlp.sock')
      using collector = await FakeCollector.start(scheme === 'unix' ? `unix:${path}` : `unix:\0${path}`)
      const { tracer, flush } = trace(`${scheme}:${path}`)
      await tracer.span('x', {}, async () => {})
      await flush()
      assert.deepEqual(
        collector.spans.map(({ name }) => name),
        ['x'],
      )
    })
  }
})
