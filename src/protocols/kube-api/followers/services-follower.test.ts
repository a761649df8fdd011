import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { FakeKubeCollection } from '../../../../test/fakes/fake-kube-collection.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { ServicesFollower } from './services-follower.ts'

test('ServicesFollower lets those wait who need the services before the first list', async () => {
  const clock = new FakeClock()
  const over = new AbortController()
  const services = new ServicesFollower({
    client: new FakeKubeCollection(),
    clock,
    random: () => 0.5,
    log: silentLogger,
  })
  assert.deepEqual(services.lookup(), { kind: 'unavailable', why: 'the API server has not listed them yet' })
  await assert.rejects(services.untilRead(AbortSignal.abort(new Error('pod deleted'))), /pod deleted/)
  const read = services.untilRead(over.signal)
  const running = services.run(over.signal)
  await read
  assert.deepEqual(services.lookup(), { kind: 'found', value: [] })
  over.abort(new Error('enough'))
  await assert.rejects(running, /enough/)
})
