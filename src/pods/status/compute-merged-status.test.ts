import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import type { PodCondition, PodStatus } from '../../model/generated/core-v1.ts'
import { CONFIG_SOURCE_ANNOTATION } from '../../model/pod/pod.ts'
import { computeMergedStatus } from './compute-merged-status.ts'
import type { PodReport } from './pod-report.ts'

const report = (status: PodStatus, parts: Partial<PodReport> = {}): PodReport => ({
  pod: createPod(),
  status,
  mayRun: false,
  isFinished: false,
  ...parts,
})
const condition = (type: string, status: string, parts: Partial<PodCondition> = {}) => ({ type, status, ...parts })

describe('computeMergedStatus()', () => {
  const failed = { phase: 'Failed', reason: 'Evicted', message: 'low on memory' }
  const verdicts: readonly (readonly [string, PodStatus, PodReport, PodStatus])[] = [
    ['says what is true', { phase: 'Pending' }, report({ phase: 'Running' }), { phase: 'Running' }],
    ['reports it as terminal when nothing runs', { phase: 'Running' }, report(failed), failed],
    [
      'does not report it as terminal while something may run',
      { phase: 'Running' },
      report(failed, { mayRun: true }),
      { phase: 'Running' },
    ],
    ['never takes a terminal phase back', failed, report({ phase: 'Running' }, { mayRun: true }), failed],
    [
      'takes the terminal phase of a static pod back when it runs again',
      failed,
      report(
        { phase: 'Running' },
        { mayRun: true, pod: createPod({ metadata: { annotations: { [CONFIG_SOURCE_ANNOTATION]: 'file' } } }) },
      ),
      { phase: 'Running' },
    ],
    ['never makes one end of another', failed, report({ phase: 'Succeeded' }), failed],
    [
      'takes words back',
      { phase: 'Pending', reason: 'X', message: 'y' },
      report({ phase: 'Pending' }),
      { phase: 'Pending' },
    ],
  ]
  for (const [name, reported, given, { phase, reason, message }] of verdicts) {
    test(name, () => {
      const merged = computeMergedStatus(reported, given)
      assert.deepEqual([merged.phase, merged.reason, merged.message], [phase, reason, message])
    })
  }

  test('keeps what was reported and nothing is known of here, and what never changes', () => {
    const containerStatuses = [{ name: 'main', ready: true, restartCount: 3, image: 'a', imageID: 'b' }]
    const reported = {
      containerStatuses,
      podIP: '192.0.2.7',
      startTime: 'then',
      qosClass: 'Burstable',
      observedGeneration: 4,
    }
    const merged = computeMergedStatus(
      reported,
      report({ phase: 'Failed', startTime: 'now', qosClass: 'BestEffort', observedGeneration: 3 }),
    )
    assert.deepEqual(JSON.parse(JSON.stringify(merged)), { ...reported, phase: 'Failed', conditions: [] })
  })

  test('has no say in the conditions of others', () => {
    const reported = { conditions: [condition('shop.test/paid', 'True'), condition('PodScheduled', 'True')] }
    const said = { conditions: [condition('shop.test/paid', 'False'), condition('Ready', 'True')] }
    assert.deepEqual(computeMergedStatus(reported, report(said)).conditions, [condition('Ready', 'True')])
  })

  test('ends readiness with the pod, whichever component ended it', () => {
    const reported = { phase: 'Failed', conditions: [condition('ContainersReady', 'True')] }
    assert.deepEqual(computeMergedStatus(reported, report({ conditions: [condition('Ready', 'True')] })).conditions, [
      condition('Ready', 'False', { reason: 'PodFailed' }),
      condition('ContainersReady', 'False', { reason: 'PodFailed' }),
    ])
  })

  test('reports a disruption only with the end that it caused', () => {
    const disruption = condition('DisruptionTarget', 'True', { reason: 'TerminationByKubelet' })
    const status = { ...failed, conditions: [disruption] }
    const conditions = (phase: string, mayRun: boolean) =>
      computeMergedStatus({ phase }, report(status, { mayRun })).conditions
    assert.deepEqual([conditions('Running', true), conditions('Failed', false)], [[], []])
    assert.deepEqual(conditions('Running', false), [disruption])
  })

  test('keeps the times of a static pod that its mirror has', () => {
    const pod = createPod({ metadata: { annotations: { [CONFIG_SOURCE_ANNOTATION]: 'file' } } })
    const conditions = [condition('Ready', 'True', { lastTransitionTime: 'now' })]
    const at = (status: string) =>
      computeMergedStatus(
        { conditions: [condition('Ready', status, { lastTransitionTime: 'then' })] },
        report({ conditions }, { pod }),
      ).conditions?.[0]?.lastTransitionTime
    assert.deepEqual([at('True'), at('False')], ['then', 'now'])
  })
})
