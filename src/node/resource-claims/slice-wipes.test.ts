import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { ShutdownError } from '../../base/async/abort-errors.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { SliceWipes } from './slice-wipes.ts'
import { ApiReturn } from '../../protocols/kube-api/list-watch/api-return.ts'

function start(t: TestContext) {
  const clock = new FakeClock()
  const deleted: string[] = []
  const failures: Error[] = []
  const stop = new AbortController()
  const group = new TaskGroup(stop.signal)
  const apiReturn = new ApiReturn()
  const wipes = new SliceWipes({
    deleteSlices: async (driver) => {
      deleted.push(driver ?? 'all')
      const failure = failures.shift()
      if (failure !== undefined) throw failure
    },
    pauses: apiReturn.pauses(),
    tasks: group,
    clock,
    random: () => 0.5,
    log: silentLogger,
  })
  t.after(async () => {
    stop.abort(new ShutdownError())
    await group.join()
    assert.equal(clock.sleeping, 0)
  })
  return { wipes, clock, deleted, failures, group, apiReturn }
}

describe('SliceWipes', () => {
  test('at the start all slices of the node go, as often as it takes', async (t) => {
    const { wipes, clock, deleted, failures } = start(t)
    failures.push(new Error('not registered'), new Error('away'))
    wipes.begin()
    await clock.advance(0)
    assert.deepEqual(deleted, ['all'])
    await clock.advance(1100)
    await clock.advance(2199)
    assert.deepEqual(deleted, ['all', 'all'])
    await clock.advance(1)
    await clock.advance(600_000)
    assert.deepEqual(deleted, ['all', 'all', 'all'])
  })

  test('what the API did not do is tried at once when it answers others', async (t) => {
    const { wipes, clock, deleted, failures, apiReturn } = start(t)
    failures.push(new Error('away'))
    wipes.begin()
    await clock.advance(0)
    assert.deepEqual(deleted, ['all'])
    apiReturn.reached()
    await clock.advance(0)
    assert.deepEqual(deleted, ['all', 'all'])
  })

  test('those of a driver go when it is away for half a minute, however often that is said', async (t) => {
    const { wipes, clock, deleted } = start(t)
    wipes.unusable('a')
    await clock.advance(20_000)
    wipes.unusable('a')
    await clock.advance(9999)
    assert.deepEqual(deleted, [])
    await clock.advance(1)
    assert.deepEqual(deleted, ['a'])
  })

  test('those of a driver that comes back in time stay', async (t) => {
    const { wipes, clock, deleted, group } = start(t)
    wipes.unusable('a')
    await clock.advance(29_000)
    wipes.usable('a')
    await clock.advance(60_000)
    assert.deepEqual(deleted, [])
    assert.equal(group.size, 0)
    wipes.unusable('a')
    await clock.advance(30_000)
    assert.deepEqual(deleted, ['a'])
  })

  test('a driver that comes back ends what the API did not do yet', async (t) => {
    const { wipes, clock, deleted, failures } = start(t)
    failures.push(new Error('away'))
    wipes.unusable('a')
    await clock.advance(30_000)
    wipes.usable('a')
    await clock.advance(60_000)
    assert.deepEqual(deleted, ['a'])
  })

  test('retries are five minutes apart at most', async (t) => {
    const { wipes, clock, deleted, failures } = start(t)
    failures.push(...Array.from({ length: 20 }, () => new Error('away')))
    wipes.begin()
    await clock.advance(600_000)
    const before = deleted.length
    await clock.advance(330_000)
    assert.equal(deleted.length, before + 1)
  })
})
