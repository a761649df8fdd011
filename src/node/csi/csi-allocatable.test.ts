import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import { CsiAllocatable } from './csi-allocatable.ts'
import type { DriverInfo } from './csi-node-object.ts'
import { toDriverTraits } from '../../protocols/csi/csi-driver-objects.ts'

const never = new AbortController().signal

function setUp(t: TestContext) {
  const clock = new FakeClock()
  const periods = new Map<string, number>()
  const counts = new Map<string, bigint>()
  const asked: string[] = []
  const reported = new Map<string, DriverInfo>()
  const hung = new Set<string>()
  const allocatable = new CsiAllocatable({
    registry: {
      names: () => [...counts.keys()],
      get: (name) =>
        counts.has(name)
          ? ({
              readInfo: async (signal: AbortSignal): Promise<DriverInfo> => {
                asked.push(name)
                if (hung.has(name)) await clock.sleep(120_000, signal)
                return { nodeId: 'other', maxVolumes: counts.get(name) ?? 0n, topology: { zone: 'other' } }
              },
            } as never)
          : undefined,
    },
    traits: (name) => toDriverTraits({ spec: { nodeAllocatableUpdatePeriodSeconds: periods.get(name) as number } }),
    objects: {
      current: (name) => reported.get(name),
      install: async (name, info) => void reported.set(name, info),
    },
    clock,
    log: silentLogger,
  })
  const stop = new AbortController()
  const running = allocatable.run(stop.signal).catch((error: unknown) => {
    if (error !== stop.signal.reason) throw error
  })
  t.after(async () => {
    stop.abort(new ShutdownError())
    await running
    assert.equal(clock.sleeping, 0)
  })
  const add = (name: string, count: bigint) => {
    counts.set(name, count)
    reported.set(name, { nodeId: 'n', maxVolumes: count, topology: { zone: 'x' } })
  }
  return { allocatable, clock, periods, counts, asked, reported, hung, add }
}

describe('CsiAllocatable', () => {
  test('asks a driver as often as its object says, and reports only another count', async (t) => {
    const { allocatable, clock, periods, counts, asked, reported, add } = setUp(t)
    add('disk', 5n)
    add('tape', 5n)
    periods.set('disk', 60)
    allocatable.wake()
    await clock.advance(59_999)
    assert.deepEqual(asked, [])
    counts.set('disk', 4n)
    await clock.advance(1)
    assert.deepEqual(asked, ['disk'])
    assert.deepEqual(reported.get('disk'), { nodeId: 'n', maxVolumes: 4n, topology: { zone: 'x' } })
    await clock.advance(120_000)
    assert.deepEqual(asked, ['disk', 'disk', 'disk'])
  })

  test('follows another period, and ends with it and with the driver', async (t) => {
    const { allocatable, clock, periods, counts, asked, add } = setUp(t)
    add('disk', 5n)
    periods.set('disk', 60)
    allocatable.wake()
    await clock.advance(30_000)
    periods.set('disk', 10)
    allocatable.wake()
    await clock.advance(20_000)
    assert.equal(asked.length, 2)
    periods.delete('disk')
    allocatable.wake()
    await clock.advance(100_000)
    assert.equal(asked.length, 2)
    periods.set('disk', 10)
    allocatable.wake()
    await clock.advance(10_000)
    assert.equal(asked.length, 3)
    counts.delete('disk')
    allocatable.wake()
    await clock.advance(100_000)
    assert.deepEqual([asked.length, clock.sleeping], [3, 0])
  })

  test('a driver that hangs keeps no other from being asked', async (t) => {
    const { allocatable, clock, periods, asked, hung, add } = setUp(t)
    for (const name of ['disk', 'tape']) {
      add(name, 5n)
      periods.set(name, 10)
    }
    hung.add('disk')
    allocatable.wake()
    await clock.advance(30_000)
    assert.deepEqual(asked, ['disk', 'tape', 'tape', 'tape'])
  })

  test('asks at once when a driver could attach no more volumes', async (t) => {
    const { allocatable, counts, reported, add } = setUp(t)
    add('disk', 5n)
    counts.set('disk', 3n)
    await allocatable.refresh('disk', never)
    assert.equal(reported.get('disk')?.maxVolumes, 3n)
    await allocatable.refresh('unknown', never)
    assert.equal(reported.has('unknown'), false)
  })
})
