import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { test } from 'node:test'
import { deferMetrics } from './defer-metrics.ts'

function setUp() {
  const counted: unknown[] = []
  let loads = 0
  const metrics = deferMetrics(async () => {
    loads += 1
    await setImmediate()
    return {
      runtimeOperation: (...call) => counted.push(call),
      relist: (seconds) => counted.push(seconds),
      probe: (...run) => counted.push(run),
      containerStart: (...start) => counted.push(start),
      sandboxStart: (failed) => counted.push(failed),
      podStart: (seconds) => counted.push(seconds),
      storageOperation: (...operation) => counted.push(operation),
      volumeFound: (isKnown) => counted.push(isKnown),
      foreignVolumeCleaned: (failed) => counted.push(failed),
      orphanVolumes: (...look) => counted.push(look),
      volumeMeasured: (...measurement) => counted.push(measurement),
      render: async () => ({ type: 'text/plain', body: JSON.stringify(counted) }),
    }
  })
  return { counted, metrics, loads: () => loads }
}

test('deferMetrics() makes them when they are asked for, with all that was counted before, in order', async () => {
  const { metrics, loads } = setUp()
  metrics.runtimeOperation('a', 1, false)
  metrics.relist(2)
  metrics.probe('liveness', 'failed', 1)
  metrics.volumeMeasured('du', 5)
  assert.equal(loads(), 0)
  const asked = Promise.all([metrics.render(), metrics.render()])
  metrics.relist(3)
  const [{ body }] = await asked
  assert.deepEqual(JSON.parse(body), [['a', 1, false], 2, ['liveness', 'failed', 1], ['du', 5], 3])
  metrics.relist(4)
  assert.deepEqual(JSON.parse((await metrics.render()).body), [
    ['a', 1, false],
    2,
    ['liveness', 'failed', 1],
    ['du', 5],
    3,
    4,
  ])
  assert.equal(loads(), 1)
})

test('deferMetrics() does not let what waits grow without end', async () => {
  const { metrics, counted, loads } = setUp()
  for (let count = 0; count < 1500; count += 1) metrics.relist(count)
  await setImmediate()
  await setImmediate()
  assert.deepEqual([loads(), counted.length], [1, 1500])
})
