import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import type { EndpointSlice } from '../../../model/generated/api-groups.ts'
import type { Service } from '../../../model/generated/core-v1.ts'
import { LiveObjects } from '../../engine/live-objects.ts'
import { createServiceProxy } from './service-proxy.ts'

const rules = {
  apply: async () => {},
  namesIn: async () => undefined,
  rulesOf: async () => '',
  remove: async () => {},
  watchDeletions: (_: unknown, signal: AbortSignal) =>
    new Promise<void>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
}

test('a setting of the bridge that is reset is set again within seconds, and reported', async (t) => {
  for (const [seesBridge, expected] of [
    [true, 1],
    [false, 0],
  ] as const) {
    const clock = new FakeClock()
    const stop = new AbortController()
    const group = new TaskGroup(stop.signal)
    let isReset = false
    let warnings = 0
    const ensureBridgeIsSeen = () => {
      const wasReset = isReset
      isReset = false
      return wasReset
    }
    const log = { ...silentLogger, warn: () => void (warnings += 1) }
    const followed = <T extends object>() => ({ known: new LiveObjects<T>(), untilSynced: async () => {} })
    const network = { serviceRanges: ['10.0.0.0/24'], podRanges: ['10.1.0.0/16'], seesBridge }
    const proxy = createServiceProxy(
      { clock, log, services: followed<Service>(), slices: followed<EndpointSlice>() },
      {
        nodeName: 'n1',
        network,
        place: { table: 't', rules },
        flows: { listUdp: async () => [], forget: async () => {} },
        ensureBridgeIsSeen,
      },
    )
    group.run('proxy', (signal) => proxy.run(signal))
    t.after(async () => {
      stop.abort(new Error('over'))
      await group[Symbol.asyncDispose]()
    })
    await clock.advance(10_000)
    assert.equal(warnings, 0)
    isReset = true
    await clock.advance(10_000)
    assert.equal(warnings, expected)
  }
})
