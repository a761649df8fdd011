import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { Container } from '../generated/core-v1.ts'
import {
  asksToRestartAll,
  effectiveRestartPolicy,
  hasRestartAllRule,
  initExitCode,
  mayRestart,
} from './restart-policy.ts'

const rule = (operator: string, values: readonly number[], action = 'Restart') => ({
  action,
  exitCodes: { operator, values },
})

interface Row {
  readonly pod?: string
  readonly own?: Partial<Container>
  /** What becomes of the exit codes 0, 1 and 42. */
  readonly expected: readonly [boolean, boolean, boolean]
}

const rows: Readonly<Record<string, Row>> = {
  'no policy means Always': { expected: [true, true, true] },
  Always: { pod: 'Always', expected: [true, true, true] },
  OnFailure: { pod: 'OnFailure', expected: [false, true, true] },
  Never: { pod: 'Never', expected: [false, false, false] },
  'own Always before the pod': { pod: 'Never', own: { restartPolicy: 'Always' }, expected: [true, true, true] },
  'own OnFailure before the pod': { pod: 'Never', own: { restartPolicy: 'OnFailure' }, expected: [false, true, true] },
  'own Never before the pod': { pod: 'Always', own: { restartPolicy: 'Never' }, expected: [false, false, false] },
  'a rule that lists the code': {
    pod: 'Never',
    own: { restartPolicy: 'Never', restartPolicyRules: [rule('In', [42, 43])] },
    expected: [false, false, true],
  },
  'a rule for all codes but some': {
    own: { restartPolicy: 'Never', restartPolicyRules: [rule('NotIn', [0])] },
    expected: [false, true, true],
  },
  'a rule that restarts everything': {
    own: { restartPolicy: 'Never', restartPolicyRules: [rule('In', [1], 'RestartAllContainers')] },
    expected: [false, true, false],
  },
  'the second rule': {
    own: { restartPolicy: 'Never', restartPolicyRules: [rule('In', [7]), rule('In', [0])] },
    expected: [true, false, false],
  },
  'no rule matches, so the own policy holds': {
    own: { restartPolicy: 'OnFailure', restartPolicyRules: [rule('In', [7])] },
    expected: [false, true, true],
  },
  'rules without an own policy do not count': {
    pod: 'Never',
    own: { restartPolicyRules: [rule('In', [0, 1, 42])] },
    expected: [false, false, false],
  },
  'an unknown action': {
    own: { restartPolicy: 'Never', restartPolicyRules: [rule('In', [1], 'Dance')] },
    expected: [false, false, false],
  },
  'an unknown operator': {
    own: { restartPolicy: 'Never', restartPolicyRules: [rule('Above', [1])] },
    expected: [false, false, false],
  },
  'a rule without codes': {
    own: { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart' }] },
    expected: [false, false, false],
  },
}

describe('mayRestart()', () => {
  for (const [name, { pod, own = {}, expected }] of Object.entries(rows)) {
    test(name, () => {
      const subject = createPod({ spec: { restartPolicy: pod } })
      const container = createContainer(own)
      assert.deepEqual(
        [0, 1, 42].map((exitCode) => mayRestart(subject, container, exitCode)),
        expected,
      )
    })
  }

  test('a pod that is being deleted restarts nothing', () => {
    const pod = createPod({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
    const own = createContainer({ restartPolicy: 'Always', restartPolicyRules: [rule('In', [1])] })
    assert.equal(mayRestart(pod, createContainer(), 1), false)
    assert.equal(mayRestart(pod, own, 1), false)
  })
})

describe('asksToRestartAll()', () => {
  const all = rule('In', [1], 'RestartAllContainers')
  const restartAllRows: Readonly<Record<string, { readonly own: Partial<Container>; readonly expected: boolean }>> = {
    'its rule knows the code': { own: { restartPolicy: 'Never', restartPolicyRules: [all] }, expected: true },
    'an earlier rule knows the code': {
      own: { restartPolicy: 'Never', restartPolicyRules: [rule('In', [1]), all] },
      expected: false,
    },
    'an earlier rule knows other codes': {
      own: { restartPolicy: 'Always', restartPolicyRules: [rule('In', [2]), all] },
      expected: true,
    },
    'rules without an own policy do not count': { own: { restartPolicyRules: [all] }, expected: false },
    'no rules': { own: { restartPolicy: 'Always' }, expected: false },
  }
  for (const [name, { own, expected }] of Object.entries(restartAllRows)) {
    test(name, () => assert.equal(asksToRestartAll(createPod(), createContainer(own), 1), expected))
  }

  test('not of a pod that is being deleted', () => {
    const pod = createPod({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
    const own = createContainer({ restartPolicy: 'Never', restartPolicyRules: [all] })
    assert.equal(asksToRestartAll(pod, own, 1), false)
    assert.equal(hasRestartAllRule(createPod({ spec: { initContainers: [own] } })), true)
    assert.equal(hasRestartAllRule(createPod()), false)
  })
})

test('initExitCode() counts a kill for memory as a failure', () => {
  assert.deepEqual(
    [{ exitCode: 0 }, { exitCode: 0, reason: 'OOMKilled' }, { exitCode: 3, reason: 'OOMKilled' }].map(initExitCode),
    [0, 137, 3],
  )
})

test('effectiveRestartPolicy() is the own one, the one of the pod, or Always', () => {
  const never = createPod({ spec: { restartPolicy: 'Never' } })
  assert.equal(effectiveRestartPolicy(never, { restartPolicy: 'OnFailure' }), 'OnFailure')
  assert.equal(effectiveRestartPolicy(never, {}), 'Never')
  assert.equal(effectiveRestartPolicy(createPod(), {}), 'Always')
})
