import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetSpec,
  PodDisruptionBudgetStatus,
} from '../../../model/generated/api-groups.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import { livePod } from '../../../../test/builders/workloads.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeBudgetStatus } from './compute-budget-status.ts'

const now = Date.UTC(2026, 0, 2)
const budget = (spec: PodDisruptionBudgetSpec, status: PodDisruptionBudgetStatus = {}): Live<PodDisruptionBudget> => ({
  metadata: { name: 'b', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 },
  spec,
  status,
})
const pods = (ready: number, ill: number) => [
  ...Array.from({ length: ready }, (_, index) =>
    livePod({ name: `r${index}` }, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }),
  ),
  ...Array.from({ length: ill }, (_, index) => livePod({ name: `i${index}` }, { phase: 'Running' })),
]

describe('computeBudgetStatus()', () => {
  for (const [name, spec, ready, ill, scale, expected] of [
    ['a number', { minAvailable: 2 }, 3, 0, 0, [3, 2, 3, 1]],
    ['a part, rounded up', { minAvailable: '50%' }, 3, 0, 3, [3, 2, 3, 1]],
    ['what may be missing', { maxUnavailable: 1 }, 3, 0, 3, [3, 2, 3, 1]],
    ['what may be missing of those that are wanted', { maxUnavailable: 1 }, 2, 1, 4, [4, 3, 2, 0]],
    ['neither', {}, 3, 0, 3, [3, 3, 3, 0]],
    ['nothing', { maxUnavailable: 1 }, 0, 0, 0, [0, 0, 0, 0]],
  ] as const) {
    test(name, () => {
      const { status } = computeBudgetStatus({ budget: budget(spec), pods: pods(ready, ill), scale, now })
      const { expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed } = status
      assert.deepEqual([expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed], expected)
    })
  }

  test('an eviction counts until it shows, for two minutes at most', () => {
    const at = (seconds: number) => ({ disruptedPods: { r0: toApiTime(now - seconds * 1000), gone: toApiTime(now) } })
    const run = (seconds: number) =>
      computeBudgetStatus({ budget: budget({ minAvailable: 1 }, at(seconds)), pods: pods(2, 0), scale: 0, now })
    assert.deepEqual([run(20).status.disruptionsAllowed, run(20).afterMs], [0, 100_000])
    assert.deepEqual(Object.keys(run(20).status.disruptedPods ?? {}), ['r0'])
    assert.deepEqual([run(120).status.disruptionsAllowed, run(120).afterMs], [1, undefined])
    assert.deepEqual(run(20).overdue, [])
    assert.deepEqual(
      run(120).overdue.map(({ metadata }) => metadata.name),
      ['r0'],
    )
  })

  test('without a scale nothing may be disrupted', () => {
    const scale = new Error('no scale')
    const { status } = computeBudgetStatus({ budget: budget({ maxUnavailable: 1 }), pods: pods(2, 0), scale, now })
    assert.deepEqual([status.disruptionsAllowed, status.conditions?.[0]?.reason], [0, 'SyncFailed'])
    // What is not known was not observed.
    assert.deepEqual([status.observedGeneration, status.conditions?.[0]?.observedGeneration], [undefined, undefined])
  })
})
