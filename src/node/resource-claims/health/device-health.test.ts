import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { FakeDraDriver } from '../../../../test/fakes/fake-dra-driver.ts'
import { FakeStateFile } from '../../../../test/fakes/fake-state-file.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { until } from '../../../../test/fakes/until.ts'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { DeviceHealth } from './device-health.ts'
import type { DeviceName, ReportedHealth } from './device-health.ts'
import { DraPlugin } from '../dra-plugin.ts'
import { HealthStatus } from '../generated/dra-health-v1alpha1.ts'
import { watchDeviceHealth } from './watch-device-health.ts'

const gpu = { driver: 'a.example', poolName: 'pool', deviceName: 'gpu-0' }
const well: ReportedHealth = {
  poolName: 'pool',
  deviceName: 'gpu-0',
  health: 'Healthy',
  message: '',
  timeoutMs: 0,
}
const UNKNOWN = { health: 'Unknown', message: '' }

async function load(file = new FakeStateFile('dra_health_state'), clock = new FakeClock()) {
  const health = await DeviceHealth.load({ file, clock, log: silentLogger })
  return { health, file, clock }
}

const namesOf = (devices: readonly DeviceName[]) => devices.map(({ deviceName }) => deviceName)

describe('DeviceHealth', () => {
  test('is what the driver said, for as long as that may be believed', async () => {
    const { health, clock } = await load()
    assert.deepEqual(health.get(gpu), UNKNOWN)
    assert.deepEqual(namesOf(health.update('a.example', [{ ...well, message: 'fine' }])), ['gpu-0'])
    await clock.advance(30_000)
    assert.deepEqual(health.get(gpu), { health: 'Healthy', message: 'fine' })
    await clock.advance(1)
    assert.deepEqual(health.get(gpu), UNKNOWN)
    health.update('a.example', [{ ...well, timeoutMs: 5000 }])
    await clock.advance(5001)
    assert.deepEqual(health.get(gpu), UNKNOWN)
  })

  test('reports only devices whose health changed', async () => {
    const { health, clock } = await load()
    health.update('a.example', [well])
    await clock.advance(10_000)
    assert.deepEqual(health.update('a.example', [well]), [])
    assert.deepEqual(namesOf(health.update('a.example', [{ ...well, health: 'Unhealthy' }])), ['gpu-0'])
    assert.deepEqual(namesOf(health.update('a.example', [{ ...well, health: 'Unhealthy', message: 'hot' }])), ['gpu-0'])
    await clock.advance(10_000)
    assert.deepEqual(health.update('a.example', []), [], 'it is believed for a while yet')
    await clock.advance(21_000)
    assert.deepEqual(namesOf(health.update('a.example', [])), ['gpu-0'])
    assert.deepEqual(health.update('a.example', []), [])
  })

  test('of a driver that is gone is unknown, of others it stays', async () => {
    const { health } = await load()
    health.update('a.example', [well])
    health.update('b.example', [well])
    assert.deepEqual(namesOf(health.clear('a.example')), ['gpu-0'])
    assert.deepEqual(health.get(gpu), UNKNOWN)
    assert.equal(health.get({ ...gpu, driver: 'b.example' }).health, 'Healthy')
  })

  test('outlives the agent in the file of the Go kubelet, and is no younger there', async () => {
    const { health, file, clock } = await load()
    health.update('a.example', [{ ...well, message: 'fine', timeoutMs: 10_000 }])
    await health.saved()
    assert.deepEqual(JSON.parse(file.text ?? ''), {
      'a.example': {
        Devices: {
          'pool/gpu-0': {
            PoolName: 'pool',
            DeviceName: 'gpu-0',
            Health: 'Healthy',
            LastUpdated: new Date(clock.now()).toISOString(),
            HealthCheckTimeout: 10_000_000_000,
            Message: 'fine',
          },
        },
      },
    })
    await clock.advance(9000)
    const { health: next } = await load(file, clock)
    assert.deepEqual(next.get(gpu), { health: 'Healthy', message: 'fine' })
    await clock.advance(1001)
    assert.deepEqual(next.get(gpu), UNKNOWN)
  })

  test('reads what Go wrote', async () => {
    const clock = new FakeClock()
    const time = new Date(clock.now()).toISOString().replace('Z', '000123+00:00')
    const text = `{"a.example":{"Devices":{"pool/gpu-0":{"PoolName":"pool","DeviceName":"gpu-0","Health":"Unhealthy","LastUpdated":"${time}","HealthCheckTimeout":0,"Message":""}}}}`
    const { health } = await load(new FakeStateFile('dra_health_state', text), clock)
    assert.equal(health.get(gpu).health, 'Unhealthy')
  })

  for (const text of ['{', '[]', '{"a":{"Devices":{"x":{}}}}'])
    test(`an invalid file is set aside: ${text}`, async () => {
      const { health, file } = await load(new FakeStateFile('dra_health_state', text))
      assert.deepEqual([health.get(gpu), file.aside], [UNKNOWN, [text]])
    })

  test('a full disk makes no caller fail', async () => {
    const { health, file } = await load()
    file.failure = new Error('disk is full')
    health.update('a.example', [well])
    await health.saved()
    assert.equal(health.get(gpu).health, 'Healthy')
  })
})

describe('watchDeviceHealth()', () => {
  test('follows a driver, forgets what it said when it stops, and asks again', async () => {
    const path = join(makeTemporaryFolder(), 'a.sock')
    using driver = await FakeDraDriver.start(path, { hasHealth: true })
    const { health, clock } = await load()
    const changed: string[] = []
    const stop = new AbortController()
    using plugin = new DraPlugin(
      { clock, onCall: () => {} },
      { driver: 'a.example', endpoint: path, version: 'v1.DRAPlugin' },
    )
    const deps = {
      health,
      isLastOf: () => true,
      onChange: (devices: readonly DeviceName[]) => void changed.push(...namesOf(devices)),
      clock,
      log: silentLogger,
    }
    const running = watchDeviceHealth(deps, plugin, stop.signal)
    running.catch(() => {})
    const device = { poolName: 'pool', deviceName: 'gpu-0' }
    const reported = { device, lastUpdatedTime: 0n, healthCheckTimeoutSeconds: -1n }
    await until(() => driver.followers === 1)
    driver.reportHealth([{ ...reported, health: HealthStatus.UNHEALTHY, message: 'x'.repeat(2000) }])
    await until(() => changed.length === 1)
    const { health: word, message } = health.get(gpu)
    assert.deepEqual([word, message.length, message.slice(-4)], ['Unhealthy', 1024, 'x...'])
    driver.breakStreams()
    await until(() => changed.length === 2)
    assert.deepEqual(health.get(gpu), UNKNOWN)
    await until(() => clock.sleeping === 1)
    await clock.advance(5000)
    await until(() => driver.followers === 1)
    stop.abort(new Error('test ended'))
    await assert.rejects(running, /test ended/)
    assert.equal(clock.sleeping, 0)
  })

  test('a driver that does not report is left alone', async () => {
    const path = join(makeTemporaryFolder(), 'a.sock')
    using _ = await FakeDraDriver.start(path)
    const { health, clock } = await load()
    using plugin = new DraPlugin(
      { clock, onCall: () => {} },
      { driver: 'a.example', endpoint: path, version: 'v1.DRAPlugin' },
    )
    const stop = new AbortController()
    let waits = 0
    const waiting = {
      driver: plugin.driver,
      get connected() {
        return plugin.connected
      },
      nextChange: (signal: AbortSignal) => {
        if (plugin.connected) waits += 1
        return plugin.nextChange(signal)
      },
      watchHealth: (signal: AbortSignal) => plugin.watchHealth(signal),
    } as DraPlugin
    const deps = { health, isLastOf: () => true, onChange: () => {}, clock, log: silentLogger }
    const running = watchDeviceHealth(deps, waiting, stop.signal)
    running.catch(() => {})
    await until(() => waits > 0)
    assert.equal(clock.sleeping, 0)
    stop.abort(new Error('test ended'))
    await assert.rejects(running, /test ended/)
  })
})
