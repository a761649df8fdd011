import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createStatsSnapshot } from '../../../test/builders/create-stats-snapshot.ts'
import type { NodeUse } from '../../../test/builders/create-stats-snapshot.ts'
import { parseQuantity } from '../../model/resources/quantity.ts'
import { QUIET, computeEvictionStep, computeMet } from './compute-eviction-step.ts'
import type { EvictionState } from './compute-eviction-step.ts'
import { computeObservations } from './compute-observations.ts'
import { OBSERVED_SIGNALS } from './observed-signal.ts'
import type { ObservedSignal } from './observed-signal.ts'
import type { Threshold, ThresholdValue } from './threshold.ts'

const TRANSITION_MS = 300_000

function amount(text: string): ThresholdValue {
  return { kind: 'amount', quantity: parseQuantity(text) }
}

function threshold(signal: ObservedSignal, text: string, fields: Partial<Threshold> = {}): Threshold {
  return { signal, value: amount(text), minReclaim: undefined, graceMs: 0, ...fields }
}

/** Checks one after the other, as "<seconds> <pressures> | <what is due>". */
function follow(thresholds: readonly Threshold[], checks: readonly (readonly [number, NodeUse])[]): readonly string[] {
  let state: EvictionState = QUIET
  return checks.map(([seconds, use]) => {
    const observations = computeObservations(createStatsSnapshot(use).node)
    const observation = { thresholds, observations, transitionMs: TRANSITION_MS, now: seconds * 1000 }
    const step = computeEvictionStep(state, observation)
    state = step.state
    const { memory, disk, pid } = step.pressures
    const pressures = [memory ? 'memory' : '', disk ? 'disk' : '', pid ? 'pid' : ''].filter((name) => name !== '')
    return `${seconds} ${pressures.join(' ')} | ${state.due.map(({ signal }) => signal).join(' ')}`
  })
}

describe('computeEvictionStep()', () => {
  test('a hard threshold is due at once, and its condition stays for a while', () => {
    assert.deepEqual(
      follow(
        [threshold('nodefs.available', '100Mi')],
        [
          [0, { diskLeft: 100 }],
          [10, { diskLeft: 99 }],
          [20, { diskLeft: 100 }],
          [309, {}],
          [310, {}],
        ],
      ),
      ['0  | ', '10 disk | nodefs.available', '20 disk | ', '309 disk | ', '310  | '],
    )
  })

  test('a soft threshold has to hold for its grace, without a break', () => {
    const short = { memoryLeft: 50 }
    assert.deepEqual(
      follow(
        [threshold('memory.available', '100Mi', { graceMs: 30_000 })],
        [
          [0, short],
          [20, short],
          [25, {}],
          [30, short],
          [59, short],
          [60, short],
        ],
      ),
      ['0 memory | ', '20 memory | ', '25 memory | ', '30 memory | ', '59 memory | ', '60 memory | memory.available'],
    )
  })

  test('once it was due, the minimum has to be reclaimed', () => {
    assert.deepEqual(
      follow(
        [threshold('imagefs.available', '100Mi', { minReclaim: amount('50Mi') })],
        [
          [0, { images: { left: 120 } }],
          [10, { images: { left: 90 } }],
          [20, { images: { left: 149 } }],
          [30, { images: { left: 150 } }],
          [40, { images: { left: 120 } }],
        ],
      ),
      ['0  | ', '10 disk | imagefs.available', '20 disk | imagefs.available', '30 disk | ', '40 disk | '],
    )
  })

  test('memory comes first, and shares count from the whole', () => {
    const share: ThresholdValue = { kind: 'share', share: Math.fround(0.1) }
    const thresholds = [
      threshold('pid.available', '400'),
      threshold('nodefs.inodesFree', '1', { value: share }),
      threshold('allocatableMemory.available', '100Mi'),
    ]
    const use = { processes: { limit: 1000, count: 601 }, inodesFree: 99, podsMemory: { used: 950 } }
    assert.deepEqual(follow(thresholds, [[0, use]]), [
      '0 memory disk pid | allocatableMemory.available pid.available nodefs.inodesFree',
    ])
    assert.deepEqual(follow(thresholds, [[0, { inodesFree: 100 }]]), ['0  | '])
  })

  test('what is not observed is not due', () => {
    assert.deepEqual(follow([threshold('imagefs.available', '100Mi')], [[0, { images: undefined }]]), ['0  | '])
  })

  test('property: nothing is due that is not short, and no condition is missing of what is', () => {
    const signals = Object.keys(OBSERVED_SIGNALS) as ObservedSignal[]
    const anyThreshold = fc.record({ signal: fc.constantFrom(...signals), mib: fc.integer({ min: 1, max: 999 }) })
    fc.assert(
      fc.property(fc.array(anyThreshold), fc.nat(999), fc.nat(999), (wanted, memoryLeft, diskLeft) => {
        const thresholds = wanted.map(({ signal, mib }) => threshold(signal, `${mib}Mi`))
        const observations = computeObservations(createStatsSnapshot({ memoryLeft, diskLeft }).node)
        const observation = { thresholds, observations, transitionMs: 0, now: 0 }
        const { state, pressures } = computeEvictionStep(QUIET, observation)
        const met = computeMet(thresholds, observations, { withReclaim: false })
        assert.deepEqual(new Set(state.due), new Set(met))
        for (const kind of ['memory', 'disk', 'pid'] as const)
          assert.equal(
            pressures[kind],
            met.some(({ signal }) => OBSERVED_SIGNALS[signal].pressure === kind),
          )
      }),
    )
  })
})
