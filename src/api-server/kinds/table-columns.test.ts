import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '../../model/generated/core-v1.ts'
import { podColumns } from './columns/pod-columns.ts'
import { humanDuration } from './table-columns.ts'

const NOW = Date.UTC(2026, 0, 2)

describe('humanDuration()', () => {
  const S = 1000
  const [M, H, D] = [60 * S, 3600 * S, 86_400 * S]
  const rows: readonly (readonly [number, string])[] = [
    [-5 * S, '<invalid>'],
    [0, '0s'],
    [119 * S, '119s'],
    [2 * M, '2m'],
    [5 * M + 10 * S, '5m10s'],
    [11 * M + 10 * S, '11m'],
    [179 * M, '179m'],
    [3 * H + 5 * M, '3h5m'],
    [47 * H, '47h'],
    [2 * D + 3 * H, '2d3h'],
    [100 * D, '100d'],
    [800 * D, '2y70d'],
    [3650 * D, '10y'],
  ]
  for (const [ms, expected] of rows) test(expected, () => assert.equal(humanDuration(ms), expected))
})

describe('the rows of pods', () => {
  const container = (name: string) => ({ name, image: 'i' })
  const running = { running: { startedAt: '2026-01-01T00:00:00Z' } }
  const status = (name: string, state: object, others: object = {}) => ({
    name,
    image: 'i',
    imageID: '',
    ready: 'running' in state,
    restartCount: 0,
    state,
    ...others,
  })
  const rows: readonly (readonly [string, Partial<Pod>, string])[] = [
    ['a new pod', { status: { phase: 'Pending' } }, '0/1 Pending 0'],
    ['a pod that runs', { status: { phase: 'Running', containerStatuses: [status('c', running)] } }, '1/1 Running 0'],
    [
      'a pod that crashes',
      {
        status: {
          phase: 'Running',
          containerStatuses: [
            status(
              'c',
              { waiting: { reason: 'CrashLoopBackOff' } },
              { restartCount: 3, lastState: { terminated: { exitCode: 1, finishedAt: '2026-01-01T23:55:00Z' } } },
            ),
          ],
        },
      },
      '0/1 CrashLoopBackOff 3 (5m ago)',
    ],
    [
      'a pod that has ended',
      {
        status: {
          phase: 'Succeeded',
          containerStatuses: [status('c', { terminated: { exitCode: 0, reason: 'Completed' } })],
        },
      },
      '0/1 Completed 0',
    ],
    [
      'an end without a reason',
      { status: { phase: 'Failed', containerStatuses: [status('c', { terminated: { exitCode: 3 } })] } },
      '0/1 ExitCode:3 0',
    ],
    [
      'an end by a signal',
      { status: { phase: 'Failed', containerStatuses: [status('c', { terminated: { exitCode: 0, signal: 9 } })] } },
      '0/1 Signal:9 0',
    ],
    [
      'a pod that is being deleted',
      { metadata: { deletionTimestamp: 'x' }, status: { phase: 'Running', containerStatuses: [status('c', running)] } },
      '1/1 Terminating 0',
    ],
    ['an evicted pod', { status: { phase: 'Failed', reason: 'Evicted' } }, '0/1 Evicted 0'],
    [
      'init containers that are not done',
      {
        spec: { initContainers: [container('i'), container('j')], containers: [container('c')] },
        status: {
          phase: 'Pending',
          initContainerStatuses: [status('i', { terminated: { exitCode: 0 } }), status('j', running, { ready: false })],
          containerStatuses: [status('c', { waiting: { reason: 'PodInitializing' } })],
        },
      },
      '0/1 Init:1/2 0',
    ],
    [
      'an init container that fails',
      {
        spec: { initContainers: [container('i')], containers: [container('c')] },
        status: {
          phase: 'Pending',
          initContainerStatuses: [status('i', { terminated: { exitCode: 1, reason: 'Error' } }, { restartCount: 2 })],
        },
      },
      '0/1 Init:Error 2',
    ],
    [
      'a sidecar counts',
      {
        spec: { initContainers: [{ ...container('s'), restartPolicy: 'Always' }], containers: [container('c')] },
        status: {
          phase: 'Running',
          initContainerStatuses: [status('s', running, { started: true })],
          containerStatuses: [status('c', running)],
        },
      },
      '2/2 Running 0',
    ],
    [
      'scheduling gates',
      {
        status: {
          phase: 'Pending',
          conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
        },
      },
      '0/1 SchedulingGated 0',
    ],
    [
      'one of two done',
      {
        spec: { containers: [container('c'), container('d')] },
        status: {
          phase: 'Running',
          containerStatuses: [status('c', running), status('d', { terminated: { exitCode: 0, reason: 'Completed' } })],
        },
      },
      '1/2 NotReady 0',
    ],
  ]
  for (const [name, pod, expected] of rows) {
    test(name, () => {
      const { spec = { containers: [container('c')] }, metadata = {}, ...rest } = pod
      const object = { ...rest, spec, metadata, apiVersion: 'v1', kind: 'Pod' }
      assert.equal(podColumns.cells(object, NOW).slice(1, 4).join(' '), expected)
    })
  }
})
