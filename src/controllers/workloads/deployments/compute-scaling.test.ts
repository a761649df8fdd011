import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { liveDeployment, liveSet } from '../../../../test/builders/workloads.ts'
import { computeIsScaling, computeScaling } from './compute-scaling.ts'
import { DESIRED_REPLICAS, MAX_REPLICAS, splitSets } from './deployment-sets.ts'

const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } }
const sized = (desired: number, max: number) => ({ [DESIRED_REPLICAS]: String(desired), [MAX_REPLICAS]: String(max) })

describe('computeScaling()', () => {
  // Sizes of the new and the old set, as annotated; then the sizes that they get.
  for (const [name, replicas, before, sizes, expected] of [
    ['one set follows', 7, [5, 8], { new: 5, old: 0 }, { new: 7 }],
    ['both grow in proportion', 30, [10, 13], { new: 5, old: 8 }, { old: 20, new: 13 }],
    ['both shrink in proportion', 5, [10, 13], { new: 5, old: 8 }, { old: 5, new: 3 }],
    ['down to nothing', 0, [10, 13], { new: 5, old: 8 }, { old: 0, new: 0 }],
  ] as const) {
    test(name, () => {
      const deployment = liveDeployment({ replicas, strategy })
      const annotations = sized(before[0], before[1])
      const sets = splitSets(deployment, [
        liveSet({ name: 'new', replicas: sizes.new, annotations, creationTimestamp: '2' }),
        liveSet({ name: 'old', replicas: sizes.old, annotations, creationTimestamp: '1' }),
      ])
      assert.equal(computeIsScaling(deployment, sets), true)
      const resizes = computeScaling(deployment, sets)
      assert.deepEqual(Object.fromEntries(resizes.map((each) => [each.set.metadata.name, each.size])), expected)
      const total = resizes.reduce((sum, { size }) => sum + size, 0)
      if (resizes.length > 1) assert.equal(total, replicas === 0 ? 0 : replicas + 3)
    })
  }

  test('old sets go when the new one has all that is asked for', () => {
    const deployment = liveDeployment({ replicas: 5, strategy })
    const current = liveSet({ name: 'new', replicas: 5, annotations: sized(5, 8) }, { availableReplicas: 5 })
    const old = liveSet({ name: 'old', replicas: 2, annotations: sized(4, 8) })
    assert.deepEqual(computeScaling(deployment, { current, old: [old] }), [{ set: old, size: 0 }])
  })

  test('a set that already has the size learns the number', () => {
    const deployment = liveDeployment({ replicas: 5, strategy })
    const current = liveSet({ name: 'new', replicas: 5, annotations: sized(3, 6) })
    assert.deepEqual(computeScaling(deployment, { current, old: [] }), [{ set: current, size: 5 }])
  })
})
