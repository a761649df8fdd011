import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { liveDeployment, liveSet } from '../../../../test/builders/workloads.ts'
import { computeFirstSize, computeRollingStep } from './compute-rolling-step.ts'
import { computeRolloutLimits } from './compute-rollout-limits.ts'
import { splitSets } from './deployment-sets.ts'

const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
})

describe('computeRolloutLimits()', () => {
  for (const [replicas, surge, unavailable, expected] of [
    [10, '25%', '25%', { surge: 3, unavailable: 2 }],
    [3, 0, '10%', { surge: 0, unavailable: 1 }],
    [1, 0, 5, { surge: 0, unavailable: 1 }],
    [0, '25%', '25%', { surge: 0, unavailable: 0 }],
  ] as const) {
    test(`${replicas} replicas, ${surge} above, ${unavailable} below`, () => {
      const { spec } = liveDeployment({ replicas, ...rolling(surge, unavailable) })
      assert.deepEqual(computeRolloutLimits(spec), expected)
    })
  }
})

describe('computeRollingStep()', () => {
  // Size and available pods of the new set and of old ones, the oldest first; then the sizes that change.
  const rows: readonly (readonly [
    string,
    readonly [number, number],
    readonly (readonly [number, number])[],
    Readonly<Record<string, number>>,
  ])[] = [
    ['the new set grows into the surge', [0, 0], [[10, 10]], { new: 3 }],
    ['then the old one shrinks to what must be available', [3, 0], [[10, 10]], { old0: 8 }],
    ['nothing moves while new pods start', [5, 0], [[8, 8]], {}],
    ['new pods that work replace old ones', [5, 3], [[8, 8]], { old0: 5 }],
    ['the new set takes the room', [5, 5], [[5, 5]], { new: 8 }],
    [
      'old pods that do not work go first',
      [3, 0],
      [
        [5, 5],
        [5, 0],
      ],
      { old1: 3 },
    ],
    ['a set that is too large shrinks', [12, 12], [], { new: 10 }],
    ['all is done', [10, 10], [[0, 0]], {}],
  ]
  for (const [name, [size, available], old, expected] of rows) {
    test(name, () => {
      const deployment = liveDeployment({ replicas: 10, ...rolling('25%', '25%') })
      const sets = [
        liveSet({ name: 'new', replicas: size, creationTimestamp: '9' }, { availableReplicas: available }),
        ...old.map(([replicas, availableReplicas], index) =>
          liveSet({ name: `old${index}`, replicas, creationTimestamp: String(index) }, { availableReplicas }),
        ),
      ]
      const step = computeRollingStep(deployment, splitSets(deployment, sets))
      assert.deepEqual(Object.fromEntries(step.map((each) => [each.set.metadata.name, each.size])), expected)
    })
  }

  test('the first size of a set leaves room for the old ones', () => {
    const deployment = liveDeployment({ replicas: 10, ...rolling('25%', '25%') })
    assert.equal(computeFirstSize(deployment, []), 10)
    assert.equal(computeFirstSize(deployment, [liveSet({ name: 'old', replicas: 10 })]), 3)
    assert.equal(computeFirstSize(liveDeployment({ replicas: 4, strategy: { type: 'Recreate' } }), []), 4)
  })
})
