import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { EventCorrelator } from './event-correlator.ts'
import { EventFactory } from './event-factory.ts'
import type { EventInput } from './event-factory.ts'

const MINUTE_MS = 60_000

function createCorrelator() {
  const clock = new FakeClock()
  const factory = new EventFactory({ nodeName: 'node-1', clock, newUid: () => 'a-uid' })
  const correlator = new EventCorrelator({ factory, clock })
  const see = (change: Partial<EventInput> = {}) =>
    correlator.correlate(
      factory.create({
        involvedObject: { kind: 'Pod', namespace: 'default', name: 'web', uid: 'u', apiVersion: 'v1' },
        type: 'Warning',
        reason: 'Failed',
        message: 'it broke',
        ...change,
      }),
    )
  /** What is sent, in short: the count for an update, the message. */
  const show = (change: Partial<EventInput> = {}) => {
    const result = see(change)
    if (result.kind === 'drop') return 'drop'
    return `${result.kind} ${result.event.count} ${result.event.message}`
  }
  return { clock, see, show }
}

describe('EventCorrelator', () => {
  test('an equal event counts up the first one, under its name and with its first time', async () => {
    const { clock, see } = createCorrelator()
    const first = see()
    await clock.advance(5000)
    const second = see()
    assert.ok(first.kind === 'create' && second.kind === 'update')
    assert.deepEqual(second.event, { ...first.event, count: 2, lastTimestamp: '2026-01-01T00:00:05Z' })
  })

  test('a clock that is set makes no new objects, and gives no new allowance', () => {
    const { clock, see, show } = createCorrelator()
    const first = see()
    for (const [hours, time] of [
      [5, '2026-01-01T05:00:00Z'],
      [-10, '2025-12-31T19:00:00Z'],
    ] as const) {
      clock.step(hours * 60 * MINUTE_MS)
      const next = see()
      assert.ok(next.kind === 'update' && first.kind === 'create')
      assert.deepEqual([next.event.metadata, next.event.lastTimestamp], [first.event.metadata, time])
    }
    for (let index = 3; index < 25; index += 1) show()
    clock.step(60 * MINUTE_MS)
    assert.equal(show(), 'drop')
  })

  test('events that differ in anything are objects of their own', () => {
    const { show } = createCorrelator()
    const other = { kind: 'Pod', namespace: 'default', name: 'web', uid: 'u', apiVersion: 'v1' }
    const changes: readonly Partial<EventInput>[] = [
      {},
      { message: 'it broke again' },
      { reason: 'BackOff' },
      { type: 'Normal' },
      { involvedObject: { ...other, uid: 'v' } },
      { involvedObject: { ...other, fieldPath: 'spec.containers{web}' } },
    ]
    for (const change of changes) assert.match(show(change), /^create 1 /)
    for (const change of changes) assert.match(show(change), /^update 2 /)
  })

  test('from the tenth different message on they are combined in one event that counts', () => {
    const { show } = createCorrelator()
    for (let index = 1; index < 10; index += 1) {
      assert.equal(show({ message: `try ${index}` }), `create 1 try ${index}`)
    }
    assert.equal(show({ message: 'try 10' }), 'create 1 (combined from similar events): try 10')
    assert.equal(show({ message: 'try 11' }), 'update 2 (combined from similar events): try 11')
    assert.equal(show({ message: 'try 11' }), 'create 1 try 11')
    assert.equal(show({ message: 'else', reason: 'BackOff' }), 'create 1 else')
  })

  test('similar events are forgotten ten minutes after the last of them', async () => {
    const { clock, show } = createCorrelator()
    for (let index = 1; index < 10; index += 1) {
      show({ message: `try ${index}` })
      await clock.advance(9 * MINUTE_MS)
    }
    assert.match(show({ message: 'try 10' }), /combined/)
    await clock.advance(10 * MINUTE_MS + 1)
    assert.equal(show({ message: 'try 11' }), 'create 1 try 11')
  })

  test('one object and type has 25 events, then one in five minutes; what is dropped still counts', async () => {
    const { clock, show } = createCorrelator()
    for (let index = 0; index < 25; index += 1) assert.notEqual(show(), 'drop')
    assert.equal(show(), 'drop')
    assert.equal(show({ reason: 'BackOff' }), 'drop')
    assert.equal(show({ type: 'Normal' }), 'create 1 it broke')
    await clock.advance(5 * MINUTE_MS)
    assert.equal(show(), 'update 27 it broke')
    assert.equal(show(), 'drop')
  })

  test('30 different failures within a minute are at most 25 writes', async () => {
    const { clock, show } = createCorrelator()
    let sent = 0
    for (let index = 0; index < 30; index += 1) {
      if (show({ message: `failure ${index}`, reason: `Reason${index % 3}` }) !== 'drop') sent += 1
      await clock.advance(2000)
    }
    assert.equal(sent, 25)
  })
})
