import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { createStatsSnapshot } from '../../../test/builders/create-stats-snapshot.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { computeObservations } from './compute-observations.ts'
import { NodePressure } from './node-pressure.ts'
import { parseThresholds } from './parse-thresholds.ts'
import { runEvictionRounds } from './run-eviction-rounds.ts'

/** Runs with so much memory left at each second, and lists what was done in which second. */
async function run(
  leftAt: (second: number) => number,
  options: {
    readonly quick?: boolean
    readonly hard?: Readonly<Record<string, string>>
    readonly soft?: Readonly<Record<string, string>>
    readonly fails?: boolean
  } = {},
) {
  const { quick = false, hard = { 'memory.available': '100Mi' }, soft = {}, fails = false } = options
  const clock = new FakeClock()
  const start = clock.now()
  const second = () => (clock.now() - start) / 1000
  const journal: string[] = []
  let pods: readonly Pod[] = ['a', 'b'].map((uid) => createPod({ metadata: { uid } }))
  const observe = () => createStatsSnapshot({ memoryLeft: leftAt(second()), time: clock.now() })
  const { thresholds } = parseThresholds({
    evictionHard: hard,
    evictionSoft: soft,
    evictionSoftGracePeriod: { 'memory.available': '1h' },
    evictionMinimumReclaim: {},
    enforceNodeAllocatable: [],
  })
  const stop = new AbortController()
  const running = runEvictionRounds(
    {
      thresholds,
      transitionMs: 0,
      maxGraceSeconds: 0,
      localStorage: false,
      stats: {
        async ask(parts) {
          if (parts.at(-1) === 'fileSystems') journal.push(`${second()} check`)
          if (fails) throw new Error('no')
          return observe()
        },
      },
      pods: {
        activePods: () => pods,
        async evict(uid) {
          journal.push(`${second()} evict ${uid}`)
          pods = pods.filter(({ metadata }) => metadata.uid !== uid)
        },
        dropRemains: async () => {},
      },
      volumes: { measureNow: async () => {} },
      images: { collectUnused: async () => {} },
      pressure: new NodePressure(() => {}),
      events: { record: () => {} },
      nodeEvents: { record: () => {} },
      metrics: { eviction: () => {}, evictionStatsAge: () => {} },
      readMemory: quick ? () => computeObservations(observe().node) : undefined,
      clock,
      log: { ...silentLogger, warn: (message) => void (fails && journal.push(message)) },
    },
    stop.signal,
  )
  await clock.advance(25_000)
  stop.abort(new Error('enough'))
  await running.catch((error: Error) => assert.equal(error.message, 'enough'))
  assert.equal(clock.sleeping, 0)
  return journal
}

describe('runEvictionRounds()', () => {
  test('checks every ten seconds', async () => {
    assert.deepEqual(await run(() => 500), ['0 check', '10 check', '20 check'])
  })

  test('goes on at once after an eviction, until there is enough or no pod left', async () => {
    const expected = ['0 check', '10 check', '10 evict a', '10 check', '10 evict b', '10 check', '20 check']
    assert.deepEqual(await run((second) => (second < 5 ? 500 : 50)), expected)
  })

  test('with quick checks it notices within a second, and once', async () => {
    const expected = ['0 check', '6 check', '6 evict a', '6 check', '6 evict b', '6 check', '16 check']
    assert.deepEqual(await run((second) => (second < 5.5 ? 500 : 50), { quick: true }), expected)
    assert.deepEqual(await run(() => 500, { quick: true }), ['0 check', '10 check', '20 check'])
  })

  test('with quick checks it notices what must not wait, although a warning was given already', async () => {
    const left = (second: number) => (second < 3.5 ? 500 : second < 16.5 ? 200 : 50)
    const seen = await run(left, { quick: true, soft: { 'memory.available': '300Mi' } })
    assert.deepEqual(seen.slice(0, 4), ['0 check', '4 check', '14 check', '17 check'])
  })

  test('does nothing without a threshold', async () => {
    assert.deepEqual(await run(() => 1, { hard: { 'memory.available': '0%' } }), [])
  })

  test('reports a failure once and tries again', async () => {
    const line = 'cannot check for node pressure, will try again'
    assert.deepEqual(await run(() => 1, { fails: true }), ['0 check', line, '10 check', '20 check'])
  })
})
