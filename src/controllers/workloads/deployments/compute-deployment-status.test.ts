import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DeploymentCondition, DeploymentStatus } from '../../../model/generated/api-groups.ts'
import { toApiTime } from '../../../model/text/api-time.ts'
import { liveDeployment, liveSet } from '../../../../test/builders/workloads.ts'
import { computeDeadlineCheck, computePauseConditions, computeRolloutStatus } from './compute-deployment-status.ts'

const now = Date.UTC(2026, 0, 2)
const progress = (reason: string, secondsAgo: number, status = 'True'): DeploymentCondition => {
  const time = toApiTime(now - secondsAgo * 1000)
  return { type: 'Progressing', status, reason, lastUpdateTime: time, lastTransitionTime: time }
}

/** Three replicas of which some pods of the present set are there. */
function statusOf(pods: number, available: number, before: DeploymentStatus, spec: object = {}) {
  const deployment = liveDeployment({ replicas: 3, ...spec }, { status: before })
  const current = liveSet(
    { name: 'new', replicas: 3 },
    { replicas: pods, readyReplicas: available, availableReplicas: available },
  )
  const status = computeRolloutStatus(deployment, { current, old: [] }, now)
  const find = (type: string) => status.conditions?.find((each) => each.type === type)
  return { status, available: find('Available'), progressing: find('Progressing') }
}

describe('computeRolloutStatus()', () => {
  const same = { replicas: 3, updatedReplicas: 3, readyReplicas: 1, availableReplicas: 1, observedGeneration: 1 }
  for (const [name, available, before, reason, status] of [
    ['complete', 3, { conditions: [progress('ReplicaSetUpdated', 5)] }, 'NewReplicaSetAvailable', 'True'],
    [
      'one more is ready',
      2,
      { ...same, conditions: [progress('NewReplicaSetCreated', 5)] },
      'ReplicaSetUpdated',
      'True',
    ],
    ['nothing new', 1, { ...same, conditions: [progress('ReplicaSetUpdated', 5)] }, 'ReplicaSetUpdated', 'True'],
    ['too late', 1, { ...same, conditions: [progress('ReplicaSetUpdated', 601)] }, 'ProgressDeadlineExceeded', 'False'],
    [
      'late, then better',
      2,
      { ...same, conditions: [progress('ProgressDeadlineExceeded', 700, 'False')] },
      'ReplicaSetUpdated',
      'True',
    ],
    [
      'pods of a finished rollout fail',
      1,
      { ...same, readyReplicas: 3, conditions: [progress('NewReplicaSetAvailable', 9000)] },
      'NewReplicaSetAvailable',
      'True',
    ],
  ] as const) {
    test(name, () => {
      const { progressing } = statusOf(3, available, before)
      assert.deepEqual([progressing?.reason, progressing?.status], [reason, status])
    })
  }

  test('a step refreshes the clock of the deadline, not the time of the transition', () => {
    const { progressing } = statusOf(3, 2, { ...same, conditions: [progress('ReplicaSetUpdated', 100)] })
    assert.equal(progressing?.lastUpdateTime, toApiTime(now))
    assert.equal(progressing?.lastTransitionTime, toApiTime(now - 100_000))
  })

  test('without a deadline there is no progress', () => {
    const before = { conditions: [progress('ReplicaSetUpdated', 100)] }
    assert.equal(statusOf(3, 2, before, { progressDeadlineSeconds: 2 ** 31 - 1 }).progressing, undefined)
  })

  test('availability counts what may be missing', () => {
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } }
    assert.equal(statusOf(3, 2, {}, { strategy }).available?.reason, 'MinimumReplicasAvailable')
    assert.equal(statusOf(3, 1, {}, { strategy }).available?.reason, 'MinimumReplicasUnavailable')
    assert.equal(statusOf(3, 1, {}, { strategy }).status.unavailableReplicas, 2)
  })
})

describe('computePauseConditions()', () => {
  for (const [paused, before, expected] of [
    [true, 'ReplicaSetUpdated', 'DeploymentPaused'],
    [true, 'DeploymentPaused', undefined],
    [false, 'DeploymentPaused', 'DeploymentResumed'],
    [false, 'ReplicaSetUpdated', undefined],
    [true, 'ProgressDeadlineExceeded', undefined],
  ] as const) {
    test(`paused ${paused} after ${before}: ${expected}`, () => {
      const deployment = liveDeployment({ paused }, { status: { conditions: [progress(before, 1)] } })
      assert.equal(computePauseConditions(deployment, now)?.[0]?.reason, expected)
    })
  }
})

test('computeDeadlineCheck() is one second after the deadline', () => {
  const check = (reason: string) =>
    computeDeadlineCheck(liveDeployment({ replicas: 3 }, { status: { conditions: [progress(reason, 100)] } }), now)
  assert.equal(check('ReplicaSetUpdated'), 501_000)
  assert.equal(check('NewReplicaSetAvailable'), undefined)
  assert.equal(check('ProgressDeadlineExceeded'), undefined)
})
