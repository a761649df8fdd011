import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computePullDecision, needsPresence } from './compute-pull-decision.ts'

test('computePullDecision() follows the pull policy', () => {
  const rows = ['Always', 'IfNotPresent', 'Never', undefined].map((policy) => [
    policy,
    needsPresence(policy),
    computePullDecision(policy, { present: false, open: false }),
    computePullDecision(policy, { present: true, open: false }),
    computePullDecision(policy, { present: true, open: true }),
  ])
  assert.deepEqual(rows, [
    ['Always', false, 'pull', 'pull', 'pull'],
    ['IfNotPresent', true, 'pull', 'pull', 'use'],
    ['Never', true, 'refuse', 'refuse', 'use'],
    [undefined, true, 'pull', 'pull', 'use'],
  ])
})
