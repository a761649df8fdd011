import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import type { SpanContext } from '../../base/telemetry/tracer.ts'
import type { FinishedSpan } from './finished-span.ts'
import { SpanRecorder } from './span-recorder.ts'

const REMOTE: SpanContext = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true }

function create(samplingRatePerMillion = 1_000_000) {
  const clock = new FakeClock(1000)
  const spans: FinishedSpan[] = []
  let drawn = 0
  const recorder = new SpanRecorder({
    samplingRatePerMillion,
    clock,
    randomBytes: (length) => Buffer.alloc(length, (drawn += 1)),
    onEnd: (span) => void spans.push(span),
  })
  return { clock, spans, recorder }
}

describe('SpanRecorder', () => {
  test('keeps what is done with its times and attributes', async () => {
    const { clock, spans, recorder } = create()
    const result = await recorder.span('syncPod', { attributes: { a: 'x' } }, async (span) => {
      await clock.advance(20)
      span.set({ b: 2 })
      return 7
    })
    assert.equal(result, 7)
    assert.deepEqual(spans, [
      {
        name: 'syncPod',
        kind: 'internal',
        context: { traceId: '02'.repeat(16), spanId: '01'.repeat(8), isSampled: true },
        parentSpanId: undefined,
        link: undefined,
        attributes: { a: 'x', b: 2 },
        startedAt: 1000,
        endedAt: 1020,
        error: undefined,
      },
    ])
  })

  test('puts a span under the one in which it began, also after a wait and side by side', async () => {
    const { spans, recorder } = create()
    await recorder.span('outer', {}, async () => {
      await setImmediate()
      await Promise.all(
        ['a', 'b'].map((name) =>
          recorder.span(name, {}, async () => void (await recorder.span(`${name}.1`, {}, setImmediate))),
        ),
      )
    })
    const names = new Map(spans.map(({ name, context }) => [context.spanId, name]))
    assert.deepEqual(Object.fromEntries(spans.map(({ name, parentSpanId = '' }) => [name, names.get(parentSpanId)])), {
      outer: undefined,
      a: 'outer',
      b: 'outer',
      'a.1': 'a',
      'b.1': 'b',
    })
    assert.equal(new Set(spans.map(({ context }) => context.traceId)).size, 1)
  })

  test('notes what failed, and passes it on', async () => {
    const { spans, recorder } = create()
    const failing = recorder.span('x', {}, async () => {
      throw new Error('no', { cause: new Error('because') })
    })
    await assert.rejects(failing, { message: 'no' })
    assert.equal(spans[0]?.error, 'no: because')
  })

  test('what outlives a span does not belong to it', async () => {
    const { spans, recorder } = create()
    const later = Promise.withResolvers<void>()
    let outliving: Promise<void> | undefined
    await recorder.span('outer', {}, async () => {
      outliving = later.promise.then(() => recorder.span('later', {}, async () => {}))
    })
    later.resolve()
    await outliving
    const [outer, after] = spans
    assert.equal(after?.parentSpanId, undefined)
    assert.notEqual(after?.context.traceId, outer?.context.traceId)
  })

  test('goes on with a trace from elsewhere, sampled or not as was decided there', async () => {
    const { spans, recorder } = create(0)
    await recorder.span('kept', { parent: REMOTE }, async () => {})
    await recorder.span('not kept', { parent: { ...REMOTE, isSampled: false } }, async (span) => {
      assert.deepEqual(span.context, { ...REMOTE, spanId: '02'.repeat(8), isSampled: false })
      await recorder.span('inner', {}, async () => {})
    })
    assert.deepEqual(
      spans.map(({ name, context, parentSpanId }) => [name, context.traceId, parentSpanId]),
      [['kept', REMOTE.traceId, REMOTE.spanId]],
    )
  })

  test('keeps nothing of a trace that is not sampled, but passes it on', async () => {
    const { spans, recorder } = create(0)
    await recorder.span('x', {}, async ({ context }) => assert.equal(context?.isSampled, false))
    assert.deepEqual(spans, [])
  })

  test('a link begins a trace of its own', async () => {
    const { spans, recorder } = create()
    await recorder.span('x', { link: REMOTE }, async () => {})
    assert.deepEqual([spans[0]?.parentSpanId, spans[0]?.link], [undefined, REMOTE])
    assert.notEqual(spans[0]?.context.traceId, REMOTE.traceId)
  })
})
