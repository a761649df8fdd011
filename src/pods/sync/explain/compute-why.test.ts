import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { terminatedAt } from '../pod-state.ts'
import { computeWhy } from './compute-why.ts'
import type { WhyInput } from './compute-why.ts'

const now = 100_000
const base: WhyInput = {
  state: { kind: 'syncing' },
  status: undefined,
  steps: [],
  failingProbes: [],
  networkProblem: undefined,
  problem: undefined,
  nextCheckAt: undefined,
  now,
}
const open = { name: 'create sandbox', startedAt: now - 1500, ms: undefined, error: undefined }
const done = { name: 'image of container "a"', startedAt: now - 9000, ms: 10, error: undefined }
const status = { name: 'a', image: '', imageID: '', ready: false, restartCount: 1 }
const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 10s' }

const ended = (exitCode: number, agoMs: number, reason: string, message?: string) => ({
  terminated: { exitCode, reason, finishedAt: new Date(now - agoMs).toISOString(), ...(message && { message }) },
})

const rows: readonly (readonly [why: string, input: Partial<WhyInput>])[] = [
  ['Waits for an older pod of the same name to end', { state: { kind: 'waiting' } }],
  ['create sandbox, for 1.5 s', { steps: [done, open] }],
  [
    'Is being ended (removed): create sandbox, for 1.5 s',
    { state: { kind: 'terminating', cause: 'removed', graceSeconds: undefined, after: 'remove' }, steps: [open, done] },
  ],
  [
    'Is being ended (deleted): Waits until its devices are given back: busy',
    {
      state: { kind: 'terminating', cause: 'deleted', graceSeconds: 1, after: 'keep' },
      problem: 'Waits until its devices are given back: busy',
    },
  ],
  [
    'Is being ended (orphaned)',
    { state: { kind: 'terminating', cause: 'orphaned', graceSeconds: 1, after: 'remove' } },
  ],
  ['Has ended; what is left of it goes in a moment', { state: terminatedAt(0, 'keep'), status: { phase: 'Running' } }],
  ['Has ended: Succeeded', { state: terminatedAt(0, 'keep'), status: { phase: 'Succeeded' } }],
  [
    'Has ended: Failed (DeadlineExceeded: too long)',
    {
      state: terminatedAt(0, 'keep'),
      status: { phase: 'Failed', reason: 'DeadlineExceeded', message: 'too long' },
    },
  ],
  [
    'Pod was rejected: too few CPUs (OutOfcpu)',
    {
      state: terminatedAt(0, 'keep'),
      status: { phase: 'Failed', reason: 'OutOfcpu', message: 'Pod was rejected: too few CPUs' },
    },
  ],
  [
    'Has ended: Succeeded; create sandbox, for 1.5 s',
    { state: terminatedAt(0, 'keep'), status: { phase: 'Succeeded' }, steps: [open] },
  ],
  ['Is gone', { state: { kind: 'gone' } }],
  ['Waits for the network: no plugin', { networkProblem: 'no plugin' }],
  [
    'Waits: container "a" CrashLoopBackOff: back-off 10s; next check in 4.0 s',
    { status: { phase: 'Running', containerStatuses: [{ ...status, state: { waiting } }] }, nextCheckAt: now + 4000 },
  ],
  [
    'Waits: container "a" CrashLoopBackOff: back-off 10s: restarted 4 times, last exited with 3, 7 s ago',
    {
      status: {
        phase: 'Running',
        containerStatuses: [{ ...status, restartCount: 4, state: { waiting }, lastState: ended(3, 7000, 'Error') }],
      },
    },
  ],
  [
    'Waits: container "a" CrashLoopBackOff: back-off 10s: restarted 1 time, last exited with 127 (ContainerCannotRun), 7 s ago, with the message "no such file"',
    {
      status: {
        phase: 'Running',
        containerStatuses: [
          { ...status, state: { waiting }, lastState: ended(127, 7000, 'ContainerCannotRun', 'no such file\nmore\n') },
        ],
      },
    },
  ],
  [
    'Runs again: container "a" restarted 1 time, last exited with 137 (SIGKILL, OOMKilled), 90 s ago',
    {
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [{ ...status, lastState: ended(137, 90_000, 'OOMKilled') }],
      },
    },
  ],
  [
    'Runs again: container "a" restarted 1 time, last exited with 143 (SIGTERM), 1 s ago, because it failed liveness probe',
    {
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [{ ...status, lastState: ended(143, 1000, 'Error') }],
      },
      steps: ['start container "a"', 'Container a failed liveness probe, will be restarted', 'start container "a"'].map(
        (name) => ({ ...done, name }),
      ),
    },
  ],
  [
    'Runs and is ready',
    {
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [{ ...status, lastState: ended(1, 700_000, 'Error') }],
      },
    },
  ],
  [
    'Runs and is ready',
    { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }, nextCheckAt: now + 4000 },
  ],
  [
    'Running, not ready: containers with unready status: [a]',
    {
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'False', message: 'containers with unready status: [a]' }],
      },
    },
  ],
  [
    'Running, not ready: readiness probe of container "a" fails: no',
    {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False', message: 'unready' }] },
      failingProbes: ['readiness probe of container "a" fails: no'],
      nextCheckAt: now + 4000,
    },
  ],
  [
    'Waits for the end of init container "i", which runs for 5.0 s',
    {
      status: {
        phase: 'Pending',
        initContainerStatuses: [
          { ...status, name: 'beside', ready: true, state: { running: {} } },
          { ...status, name: 'i', state: { running: { startedAt: new Date(now - 5000).toISOString() } } },
          { ...status, name: 'next', state: { waiting: { reason: 'PodInitializing' } } },
        ],
        containerStatuses: [
          { ...status, state: { waiting: { reason: 'PodInitializing' } }, lastState: ended(1, 700_000, 'Error') },
        ],
      },
      nextCheckAt: now + 4000,
    },
  ],
  [
    'Runs and is ready; liveness probe of container "a" fails: no',
    {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      failingProbes: ['liveness probe of container "a" fails: no'],
    },
  ],
  [
    'Has ended: Failed; container "a" exited with 137 (SIGKILL, OOMKilled)',
    {
      state: terminatedAt(0, 'keep'),
      status: {
        phase: 'Failed',
        initContainerStatuses: [{ ...status, name: 'i', state: { terminated: { exitCode: 0, reason: 'Completed' } } }],
        containerStatuses: [{ ...status, state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }],
      },
    },
  ],
  [
    'Waits for its volumes: no gitRepo; next check in 4.0 s',
    {
      status: { phase: 'Pending', containerStatuses: [{ ...status, state: { waiting } }] },
      problem: 'Waits for its volumes: no gitRepo',
      nextCheckAt: now + 4000,
    },
  ],
  ['create sandbox, for 1.5 s; before: Waits: no handler', { steps: [open], problem: 'Waits: no handler' }],
  [
    'Runs and is ready; resize fails and is tried again: memory is in use',
    {
      status: {
        phase: 'Running',
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'PodResizeInProgress', status: 'True', reason: 'Error', message: 'memory is in use' },
        ],
      },
    },
  ],
  [
    'Runs and is ready; resize is pending (Infeasible): not in place',
    {
      status: {
        phase: 'Running',
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'PodResizePending', status: 'True', reason: 'Infeasible', message: 'not in place' },
        ],
      },
    },
  ],
  ['Pending, not ready', {}],
]

describe('computeWhy()', () => {
  for (const [why, input] of rows) test(why, () => assert.equal(computeWhy({ ...base, ...input }), why))
})
