import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { runLeftoverRemoval } from './run-leftover-removal.ts'

test('runLeftoverRemoval() goes on until no volume of an unknown pod is left', async () => {
  const clock = new FakeClock()
  let failures = 2
  let tries = 0
  const nothing = async () => []
  const running = runLeftoverRemoval(
    {
      files: {
        listPods: async () => ['u-1'],
        listLogDirectories: nothing,
        removePod: async () => {},
        removeDanglingLinks: async () => {},
      } as never,
      volumes: {
        has: () => failures > 0,
        release: async () => {
          tries += 1
          failures -= 1
          if (failures > 0) throw new Error('busy')
        },
      },
      cgroups: { list: nothing } as never,
      journal: { uids: () => [], forget: async () => {} },
      registry: { knows: () => false },
      observer: { refresh: async () => undefined },
      metrics: { orphanVolumes: () => {} },
      podLogsDirectory: '/logs',
      clock,
      log: silentLogger,
    },
    new AbortController().signal,
  )
  await clock.advance(59_000)
  assert.equal(tries, 1)
  await clock.advance(1000)
  await running
  assert.deepEqual([tries, clock.sleeping], [2, 0])
})
