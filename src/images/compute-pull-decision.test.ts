import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computePullDecision, needsPresence } from './compute-pull-decision.ts'

test('computePullDecision() follows the pull policy', () => {
  const rows = ['Always', 'IfNotPresent', 'Never', undefined].map((policy) => [
    policy,
    needsPresence(policy),
    computePullDecision(policy, undefined),
    computePullDecision(policy, {}),
  ])
  assert.deepEqual(rows, [
    ['Always', false, 'pull', 'pull'],
    ['IfNotPresent', true, 'pull', 'use'],
    ['Never', true, 'refuse', 'use'],
    [undefined, true, 'pull', 'use'],
  ])
})
