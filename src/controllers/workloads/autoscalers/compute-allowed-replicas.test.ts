import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { HPAScalingRules } from '../../../model/generated/api-groups.ts'
import { computeAllowedReplicas, withScaling } from './compute-allowed-replicas.ts'
import type { AllowedInput, ScalingHistory } from './compute-allowed-replicas.ts'

const at = 10_000_000
const nothing: ScalingHistory = { recommendations: [], added: [], removed: [] }
/** Numbers of replicas, each with how many seconds ago it was. */
const entries = (...pairs: readonly (readonly [replicas: number, seconds: number])[]) =>
  pairs.map(([replicas, seconds]) => ({ replicas, at: at - seconds * 1000 }))
const up: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const down: HPAScalingRules = { policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] }

interface Case {
  readonly current: number
  readonly proposed: number
  readonly up?: HPAScalingRules
  readonly down?: HPAScalingRules
  readonly history?: Partial<ScalingHistory>
  readonly expected: readonly [replicas: number, able: string, limited: string]
}

const run = ({ current, proposed, history = {}, ...rules }: Case) => {
  const hasRules = rules.up !== undefined || rules.down !== undefined
  const behavior = hasRules ? { scaleUp: { ...up, ...rules.up }, scaleDown: { ...down, ...rules.down } } : undefined
  const spec: AllowedInput['spec'] = {
    scaleTargetRef: { kind: 'Deployment', name: 'web' },
    minReplicas: 2,
    maxReplicas: 20,
    behavior,
  }
  return computeAllowedReplicas({ spec, current, proposed, history: { ...nothing, ...history }, at })
}

const slow: HPAScalingRules = { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] }
const both: readonly { readonly type: string; readonly value: number; readonly periodSeconds: number }[] = [
  { type: 'Pods', value: 2, periodSeconds: 60 },
  { type: 'Percent', value: 50, periodSeconds: 60 },
]

const cases: Readonly<Record<string, Case>> = {
  'as many as there are': { current: 5, proposed: 5, expected: [5, 'ReadyForNewScale', 'DesiredWithinRange'] },
  more: { current: 5, proposed: 8, expected: [8, 'ReadyForNewScale', 'DesiredWithinRange'] },
  fewer: { current: 5, proposed: 3, expected: [3, 'ReadyForNewScale', 'DesiredWithinRange'] },
  'more than the maximum': { current: 15, proposed: 25, expected: [20, 'ReadyForNewScale', 'TooManyReplicas'] },
  'fewer than the minimum': { current: 5, proposed: 0, expected: [2, 'ReadyForNewScale', 'TooFewReplicas'] },
  'more than double': { current: 5, proposed: 15, expected: [10, 'ReadyForNewScale', 'ScaleUpLimit'] },
  'a few may become four': { current: 1, proposed: 9, expected: [4, 'ReadyForNewScale', 'ScaleUpLimit'] },
  'a recent larger recommendation': {
    current: 5,
    proposed: 3,
    history: { recommendations: entries([4, 299], [3, 10]) },
    expected: [4, 'ScaleDownStabilized', 'DesiredWithinRange'],
  },
  'one that is too old': {
    current: 5,
    proposed: 3,
    history: { recommendations: entries([4, 301]) },
    expected: [3, 'ReadyForNewScale', 'DesiredWithinRange'],
  },
  'a recent larger one while growing': {
    current: 5,
    proposed: 6,
    history: { recommendations: entries([8, 20]) },
    expected: [8, 'ScaleDownStabilized', 'DesiredWithinRange'],
  },
  'rules: more': { current: 5, proposed: 8, up, expected: [8, 'ReadyForNewScale', 'DesiredWithinRange'] },
  'rules: more than the faster policy': {
    current: 5,
    proposed: 15,
    up,
    expected: [10, 'ReadyForNewScale', 'ScaleUpLimit'],
  },
  'rules: the faster policy is that of pods': {
    current: 2,
    proposed: 15,
    up,
    expected: [6, 'ReadyForNewScale', 'ScaleUpLimit'],
  },
  'rules: the maximum': { current: 15, proposed: 25, up, expected: [20, 'ReadyForNewScale', 'TooManyReplicas'] },
  'rules: the minimum': { current: 5, proposed: 1, down, expected: [2, 'ReadyForNewScale', 'TooFewReplicas'] },
  'rules: the slower policy': {
    current: 10,
    proposed: 20,
    up: { policies: both, selectPolicy: 'Min' },
    expected: [12, 'ReadyForNewScale', 'ScaleUpLimit'],
  },
  'rules: the slower policy for shrinking': {
    current: 10,
    proposed: 2,
    down: { policies: both, selectPolicy: 'Min' },
    expected: [8, 'ReadyForNewScale', 'ScaleDownLimit'],
  },
  'rules: the faster policy for shrinking': {
    current: 10,
    proposed: 2,
    down: { policies: both },
    expected: [5, 'ReadyForNewScale', 'ScaleDownLimit'],
  },
  'rules: a part of a pod, growing': {
    current: 5,
    proposed: 20,
    up: { policies: [{ type: 'Percent', value: 10, periodSeconds: 60 }] },
    expected: [6, 'ReadyForNewScale', 'ScaleUpLimit'],
  },
  'rules: a part of a pod, shrinking': {
    current: 5,
    proposed: 2,
    down: { policies: [{ type: 'Percent', value: 10, periodSeconds: 60 }] },
    expected: [4, 'ReadyForNewScale', 'ScaleDownLimit'],
  },
  'rules: never more': {
    current: 5,
    proposed: 8,
    up: { selectPolicy: 'Disabled' },
    expected: [5, 'ReadyForNewScale', 'ScaleUpLimit'],
  },
  'rules: never fewer': {
    current: 5,
    proposed: 3,
    down: { selectPolicy: 'Disabled' },
    expected: [5, 'ReadyForNewScale', 'ScaleDownLimit'],
  },
  'rules: added in the period': {
    current: 5,
    proposed: 8,
    up: slow,
    history: { added: entries([1, 30]) },
    expected: [5, 'ReadyForNewScale', 'ScaleUpLimit'],
  },
  'rules: added before the period': {
    current: 5,
    proposed: 8,
    up: slow,
    history: { added: entries([1, 61]) },
    expected: [6, 'ReadyForNewScale', 'ScaleUpLimit'],
  },
  'rules: removed in the period': {
    current: 5,
    proposed: 3,
    down: slow,
    history: { removed: entries([1, 30]) },
    expected: [5, 'ReadyForNewScale', 'ScaleDownLimit'],
  },
  'rules: what was removed may come back': {
    current: 5,
    proposed: 8,
    up: slow,
    history: { removed: entries([2, 30]) },
    expected: [8, 'ReadyForNewScale', 'DesiredWithinRange'],
  },
  'rules: a smaller recommendation in the window for growing': {
    current: 5,
    proposed: 8,
    up: { stabilizationWindowSeconds: 60 },
    history: { recommendations: entries([6, 30]) },
    expected: [6, 'ScaleUpStabilized', 'DesiredWithinRange'],
  },
  'rules: one below what is there': {
    current: 5,
    proposed: 8,
    up: { stabilizationWindowSeconds: 60 },
    history: { recommendations: entries([3, 30]) },
    expected: [5, 'ScaleUpStabilized', 'DesiredWithinRange'],
  },
  'rules: the window for shrinking is five minutes': {
    current: 5,
    proposed: 3,
    down,
    history: { recommendations: entries([4, 299]) },
    expected: [4, 'ScaleDownStabilized', 'DesiredWithinRange'],
  },
  'rules: no window for shrinking': {
    current: 5,
    proposed: 3,
    down: { stabilizationWindowSeconds: 0 },
    history: { recommendations: entries([5, 1]) },
    expected: [3, 'ReadyForNewScale', 'DesiredWithinRange'],
  },
}

describe('computeAllowedReplicas()', () => {
  for (const [name, each] of Object.entries(cases)) {
    test(name, () => {
      const { replicas, able, limited } = run(each)
      assert.deepEqual([replicas, able.reason, limited.reason], each.expected)
      assert.equal(limited.isLimited, limited.reason !== 'DesiredWithinRange')
    })
  }

  test('remembers what was recommended and done, for as long as it can count', () => {
    const { history } = run({
      current: 5,
      proposed: 7,
      history: { recommendations: entries([1, 3601], [2, 3599]) },
      expected: [7, '', ''],
    })
    assert.deepEqual(
      history.recommendations.map(({ replicas }) => replicas),
      [2, 7],
    )
    const old = { ...nothing, removed: entries([1, 1801], [2, 1799]) }
    const after = withScaling(withScaling(old, 5, 2, at), 2, 4, at)
    assert.deepEqual(
      [after.removed.map(({ replicas }) => replicas), after.added.map(({ replicas }) => replicas)],
      [[2, 3], [2]],
    )
  })
})
