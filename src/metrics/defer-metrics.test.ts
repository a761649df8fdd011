import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { test } from 'node:test'
import type { AgentMetrics } from './create-metrics.ts'
import type { ProbeSeries } from './probe-metrics.ts'
import { deferMetrics } from './defer-metrics.ts'

const series: ProbeSeries = { namespace: 'n', pod: 'p', podUid: 'u', container: 'c', type: 'liveness' }

function setUp() {
  const counted: unknown[] = []
  let loads = 0
  const metrics = deferMetrics()
  metrics.connect(async () => {
    loads += 1
    await setImmediate()
    const render = async () => ({ type: 'text/plain', body: JSON.stringify(counted) })
    return {
      ...({
        runtimeOperation: (...call: unknown[]) => counted.push(call),
        relist: (seconds: number) => counted.push(seconds),
        probeEnded: (...probe: unknown[]) => counted.push(probe),
        volumeMeasured: (...measurement: unknown[]) => counted.push(measurement),
      } as unknown as AgentMetrics),
      render,
      renderProbes: render,
      renderHealth: render,
    }
  })
  return { counted, metrics, loads: () => loads }
}

test('deferMetrics() makes them when they are asked for, with all that was counted before, in order', async () => {
  const { metrics, loads } = setUp()
  metrics.runtimeOperation('a', 1, false)
  metrics.relist(2)
  metrics.probeEnded(series)
  metrics.volumeMeasured('du', 5)
  assert.equal(loads(), 0)
  const asked = Promise.all([metrics.render('text'), metrics.render('text')])
  metrics.relist(3)
  const [{ body }] = await asked
  assert.deepEqual(JSON.parse(body), [['a', 1, false], 2, [series], ['du', 5], 3])
  metrics.relist(4)
  assert.deepEqual(JSON.parse((await metrics.render('text')).body), [['a', 1, false], 2, [series], ['du', 5], 3, 4])
  assert.equal(loads(), 1)
})

test('deferMetrics() does not let what waits grow without end', async () => {
  const { metrics, counted, loads } = setUp()
  for (let count = 0; count < 1500; count += 1) metrics.relist(count)
  await setImmediate()
  await setImmediate()
  assert.deepEqual([loads(), counted.length], [1, 1500])
})

test('deferMetrics() keeps what is counted before it is known how the metrics are made', async () => {
  const metrics = deferMetrics()
  for (let count = 0; count < 1500; count += 1) metrics.relist(count)
  const counted: number[] = []
  metrics.connect(async () => ({ relist: (seconds: number) => void counted.push(seconds) }) as unknown as AgentMetrics)
  await setImmediate()
  assert.equal(counted.length, 1500)
})
