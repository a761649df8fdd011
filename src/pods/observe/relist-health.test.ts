import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { RelistHealth } from './relist-health.ts'

test('lists that are not complete are reported once, until one was complete again', () => {
  const lines: string[] = []
  const log = { ...silentLogger, warn: (message: string) => void lines.push(message) }
  const metrics = { relist: () => {}, listTooLarge: () => {} }
  const events = { record: () => {} }
  const health = new RelistHealth({ syncFrequencyMs: 1000, metrics, events, clock: new FakeClock(), log })
  const shortRelist = () => {
    health.omitted(['a'])
    health.omitted(['b', 'c'])
    health.note({ ms: 1 })
  }
  shortRelist()
  shortRelist()
  assert.equal(lines.length, 1)
  health.note({ ms: 1 })
  shortRelist()
  assert.deepEqual(lines, Array(2).fill('the lists of the runtime are not complete, all pods are kept'))
})

test('lists that are too large are counted each time, and reported once until they are not', () => {
  let [counted, reported] = [0, 0]
  const metrics = { relist: () => {}, listTooLarge: () => void (counted += 1) }
  const events = { record: () => void (reported += 1) }
  const health = new RelistHealth({
    syncFrequencyMs: 1000,
    metrics,
    events,
    clock: new FakeClock(),
    log: silentLogger,
  })
  for (let i = 0; i < 3; i += 1) {
    health.tooLarge()
    health.note({ ms: 1 })
  }
  assert.deepEqual([counted, reported], [3, 1])
  health.note({ ms: 1 })
  health.tooLarge()
  assert.deepEqual([counted, reported], [4, 2])
})
