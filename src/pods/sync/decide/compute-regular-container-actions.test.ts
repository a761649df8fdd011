import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance as instance, createObservedPod } from '../../../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { Container } from '../../../model/generated/core-v1.ts'
import type { ObservedContainer } from '../../../model/pod/observed-pod.ts'
import { computeRegularContainerActions } from './compute-regular-container-actions.ts'
import type { RegularContainerActions } from './compute-regular-container-actions.ts'

const exited = (exitCode: number) => instance({ state: 'exited', exitCode })
const nothing: RegularContainerActions = { kept: 0, kill: [], start: [] }
const kept = { ...nothing, kept: 1 }
const started = { ...nothing, start: ['main'] }

interface Row {
  readonly has?: ObservedContainer
  readonly policy?: string
  readonly own?: Partial<Container>
  readonly deleted?: boolean
  readonly startup?: false
  readonly liveness?: false
  readonly failedStarts?: readonly string[]
  readonly expected: RegularContainerActions
}

function kills(cause: 'changed' | 'liveness' | 'startup' | 'unknown', text: string, restart: boolean) {
  const message = `Container main ${text}${restart ? ', will be restarted' : ''}`
  return { kept: 0, kill: [{ id: 'main-0', name: 'main', cause, message }], start: restart ? ['main'] : [] }
}

function failedStart(restart: boolean): RegularContainerActions {
  const kill = [{ id: 'main-0', name: 'main', cause: 'postStart' as const, message: 'FailedPostStartHook' }]
  return { kept: 0, kill, start: restart ? ['main'] : [] }
}

const UNKNOWN = 'Container is in "unknown" state, try killing it before restart'

const rows: Readonly<Record<string, Row>> = {
  'missing: start': { expected: started },
  'missing in a pod that never restarts: start': { policy: 'Never', expected: started },
  'missing in a deleted pod: leave': { deleted: true, expected: nothing },
  'created: start': { has: instance({ state: 'created' }), policy: 'Never', expected: started },
  'created in a deleted pod: leave': { has: instance({ state: 'created' }), deleted: true, expected: nothing },
  'unknown: kill and start': {
    has: instance({ state: 'unknown' }),
    policy: 'Never',
    expected: {
      ...kills('unknown', '', true),
      kill: [{ id: 'main-0', name: 'main', cause: 'unknown', message: UNKNOWN }],
    },
  },
  'unknown in a deleted pod: kill': {
    has: instance({ state: 'unknown' }),
    deleted: true,
    expected: {
      ...kills('unknown', '', false),
      kill: [{ id: 'main-0', name: 'main', cause: 'unknown', message: UNKNOWN }],
    },
  },
  'exited well, Always: start': { has: exited(0), policy: 'Always', expected: started },
  'exited badly, Always: start': { has: exited(1), policy: 'Always', expected: started },
  'exited well, OnFailure: leave': { has: exited(0), policy: 'OnFailure', expected: nothing },
  'exited badly, OnFailure: start': { has: exited(1), policy: 'OnFailure', expected: started },
  'exited well, Never: leave': { has: exited(0), policy: 'Never', expected: nothing },
  'exited badly, Never: leave': { has: exited(1), policy: 'Never', expected: nothing },
  'exited in a deleted pod: leave': { has: exited(1), policy: 'Always', deleted: true, expected: nothing },
  'exited badly, own Never: leave': {
    has: exited(1),
    policy: 'Always',
    own: { restartPolicy: 'Never' },
    expected: nothing,
  },
  'exited with the code of a rule: start': {
    has: exited(42),
    policy: 'Never',
    own: {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
    },
    expected: started,
  },
  'running: keep': { has: instance(), expected: kept },
  'running in a deleted pod: keep': { has: instance(), deleted: true, expected: kept },
  'running with another image: kill and start': {
    has: instance({ hash: 'old' }),
    policy: 'Never',
    expected: kills('changed', 'definition changed', true),
  },
  'running with other env, command and ports: keep': {
    has: instance(),
    own: { command: ['other'], env: [{ name: 'A', value: 'b' }], ports: [{ containerPort: 80 }] },
    expected: kept,
  },
  'not alive, Always: kill and start': {
    has: instance(),
    liveness: false,
    expected: kills('liveness', 'failed liveness probe', true),
  },
  'not alive, OnFailure: kill and start': {
    has: instance(),
    policy: 'OnFailure',
    liveness: false,
    expected: kills('liveness', 'failed liveness probe', true),
  },
  'not alive, Never: kill': {
    has: instance(),
    policy: 'Never',
    liveness: false,
    expected: kills('liveness', 'failed liveness probe', false),
  },
  'not alive, own Always: kill and start': {
    has: instance(),
    policy: 'Never',
    own: { restartPolicy: 'Always' },
    liveness: false,
    expected: kills('liveness', 'failed liveness probe', true),
  },
  'not alive, own Never: kill, whatever its rules say': {
    has: instance(),
    own: {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'NotIn', values: [0] } }],
    },
    liveness: false,
    expected: kills('liveness', 'failed liveness probe', false),
  },
  'not started in time: kill and start': {
    has: instance(),
    startup: false,
    expected: kills('startup', 'failed startup probe', true),
  },
  'a failed postStart hook whose stop was not finished: kill and start': {
    has: instance(),
    failedStarts: ['main-0'],
    expected: failedStart(true),
  },
  'a failed postStart hook whose stop was not finished, Never: kill': {
    has: instance(),
    policy: 'Never',
    failedStarts: ['main-0'],
    expected: failedStart(false),
  },
  'a failed postStart hook of an instance that has ended: start': {
    has: exited(143),
    failedStarts: ['main-0'],
    expected: { kept: 0, kill: [], start: ['main'] },
  },
  'not started in time, Never: kill': {
    has: instance(),
    policy: 'Never',
    startup: false,
    expected: kills('startup', 'failed startup probe', false),
  },
}

describe('computeRegularContainerActions()', () => {
  for (const [name, row] of Object.entries(rows)) {
    test(name, () => {
      const pod = createPod({
        metadata: row.deleted === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {},
        spec: { containers: [createContainer(row.own)], restartPolicy: row.policy },
      })
      const probes = {
        startup: new Map(row.startup === undefined ? [] : [['main-0', row.startup]]),
        liveness: new Map(row.liveness === undefined ? [] : [['main-0', row.liveness]]),
      }
      const observed = createObservedPod({ containers: row.has === undefined ? [] : [row.has] })
      assert.deepEqual(
        computeRegularContainerActions(pod, observed, {
          probes,
          resized: new Set(),
          failedStarts: new Set(row.failedStarts),
        }),
        row.expected,
      )
    })
  }

  test('only the newest instance is judged', () => {
    const containers = [instance({ restartCount: 1 }), exited(1)]
    const probes = { startup: new Map(), liveness: new Map([['main-0', false]]) }
    const judged = { probes, resized: new Set<string>(), failedStarts: new Set<string>() }
    assert.deepEqual(computeRegularContainerActions(createPod(), createObservedPod({ containers }), judged), kept)
  })
})
