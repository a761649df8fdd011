import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import type { FinishedSpan } from './finished-span.ts'
import { SpanExporter } from './span-exporter.ts'

const SPAN: FinishedSpan = {
  name: 'x',
  kind: 'internal',
  context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true },
  parentSpanId: undefined,
  link: undefined,
  attributes: {},
  startedAt: 0,
  endedAt: 1,
  error: undefined,
}

type Send = ConstructorParameters<typeof SpanExporter>[0]['send']

function start(send: Send = async ({ length }) => length) {
  const clock = new FakeClock()
  const batches: number[] = []
  const counts = { exported: 0, dropped: 0 }
  const stop = new AbortController()
  const exporter = new SpanExporter({
    send(spans, signal) {
      batches.push(spans.length)
      return send(spans, signal)
    },
    metrics: {
      spansExported: (count) => void (counts.exported += count),
      spansDropped: (count) => void (counts.dropped += count),
    },
    clock,
    log: silentLogger,
  })
  const running = exporter.run(stop.signal)
  const end = async () => {
    stop.abort(new ShutdownError())
    await assert.rejects(running, ShutdownError)
    assert.equal(clock.sleeping, 0)
  }
  const add = (count: number) => {
    for (let times = 0; times < count; times += 1) exporter.add(SPAN)
  }
  return { clock, batches, counts, add, end, stop, running }
}

describe('SpanExporter', () => {
  test('sends what has come every five seconds', async () => {
    const { clock, batches, counts, add, end } = start()
    add(3)
    await clock.advance(4999)
    assert.deepEqual(batches, [])
    await clock.advance(1)
    assert.deepEqual(batches, [3])
    await clock.advance(60_000)
    assert.deepEqual(batches, [3])
    assert.deepEqual(counts, { exported: 3, dropped: 0 })
    await end()
  })

  test('sends at once what is enough for a batch, and no more in one', async () => {
    const { clock, batches, add, end } = start()
    add(1100)
    await clock.advance(0)
    assert.deepEqual(batches, [512, 512, 76])
    await end()
  })

  test('drops what is too much, and never waits', async () => {
    const { clock, counts, add, end } = start(
      (_, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    add(5000)
    assert.deepEqual(counts, { exported: 0, dropped: 5000 - 2048 })
    // The collector does not answer: the batch is given up.
    await clock.advance(10_000)
    assert.equal(counts.dropped, 5000 - 2048 + 512)
    const ending = end()
    await clock.advance(1000)
    await ending
  })

  test('goes on after a failure', async () => {
    let isBroken = true
    const { clock, counts, add, end } = start(async ({ length }) => {
      if (isBroken) throw new Error('away')
      return length
    })
    add(2)
    await clock.advance(5000)
    isBroken = false
    add(1)
    await clock.advance(5000)
    assert.deepEqual(counts, { exported: 1, dropped: 2 })
    await end()
  })

  test('counts what the collector did not take', async () => {
    const { clock, counts, add, end } = start(async () => 1)
    add(3)
    await clock.advance(5000)
    assert.deepEqual(counts, { exported: 1, dropped: 2 })
    await end()
  })

  test('sends what is left at the end', async () => {
    const { batches, add, end } = start()
    add(5)
    await end()
    assert.deepEqual(batches, [5])
  })
})
