import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { RelistHealth } from './relist-health.ts'

test('lists that are not complete are reported once, until one was complete again', () => {
  const lines: string[] = []
  const log = { ...silentLogger, warn: (message: string) => void lines.push(message) }
  const metrics = { relist: () => {} }
  const health = new RelistHealth({ syncFrequencyMs: 1000, metrics, clock: new FakeClock(), log })
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
