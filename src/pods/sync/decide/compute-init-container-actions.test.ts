import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance as instance, createObservedPod } from '../../../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { Container } from '../../../model/generated/core-v1.ts'
import type { ObservedContainer } from '../../../model/pod/observed-pod.ts'
import { computeInitContainerActions, hasInitFailedForGood } from './compute-init-container-actions.ts'
import type { InitContainerActions } from './compute-init-container-actions.ts'

const UNKNOWN = 'Init container is in "unknown" state, try killing it before restart'

const init = (name: string, parts: Partial<Container> = {}) => createContainer({ name, ...parts })
const sidecar = (name: string, parts: Partial<Container> = {}) => init(name, { restartPolicy: 'Always', ...parts })
const exited = (name: string, exitCode: number, reason = 'any') => instance({ name, state: 'exited', exitCode, reason })

const nothing: InitContainerActions = { initialized: false, killPod: false, kill: [], start: [] }
const done: InitContainerActions = { ...nothing, initialized: true }
const failed: InitContainerActions = { ...nothing, killPod: true }
const starts = (...start: readonly string[]): InitContainerActions => ({ ...nothing, start })

interface Row {
  readonly init: readonly Container[]
  readonly has?: readonly ObservedContainer[]
  readonly policy?: string
  readonly startup?: Readonly<Record<string, boolean>>
  readonly liveness?: Readonly<Record<string, boolean>>
  readonly failedStarts?: readonly string[]
  readonly expected: InitContainerActions
}

const two = [init('a'), init('b')]
const rows: Readonly<Record<string, Row>> = {
  'a pod without any is through': { init: [], expected: done },
  'the first one starts first': { init: two, expected: starts('a') },
  'one that was made and not started is started': {
    init: two,
    has: [instance({ name: 'a', state: 'created' })],
    expected: starts('a'),
  },
  'one that runs is waited for': { init: two, has: [instance({ name: 'a' })], expected: nothing },
  'the next one follows one that ended well': { init: two, has: [exited('a', 0)], expected: starts('b') },
  'only the last known one counts': {
    init: [init('a'), init('b'), init('c')],
    has: [exited('b', 0), exited('a', 1)],
    policy: 'Never',
    expected: starts('c'),
  },
  'the last one ended well': { init: two, has: [exited('b', 0), exited('a', 0)], expected: done },
  'the last one ended well and the first is cleaned up': { init: two, has: [exited('b', 0)], expected: done },
  'a failed one starts again': { init: two, has: [exited('a', 1)], expected: starts('a') },
  'a failed one starts again on failure': {
    init: two,
    has: [exited('a', 1)],
    policy: 'OnFailure',
    expected: starts('a'),
  },
  'a failed one ends a pod that never restarts': {
    init: two,
    has: [exited('a', 1)],
    policy: 'Never',
    expected: failed,
  },
  'a failed one with its own Never ends the pod': {
    init: [init('a', { restartPolicy: 'Never' })],
    has: [exited('a', 1)],
    expected: failed,
  },
  'a failed one with its own OnFailure starts again': {
    init: [init('a', { restartPolicy: 'OnFailure' })],
    has: [exited('a', 1)],
    policy: 'Never',
    expected: starts('a'),
  },
  'a failed one with a rule for its exit code starts again': {
    init: [
      init('a', {
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
      }),
    ],
    has: [exited('a', 42)],
    policy: 'Never',
    expected: starts('a'),
  },
  'out of memory is a failure even with exit code 0': {
    init: two,
    has: [exited('a', 0, 'OOMKilled')],
    policy: 'OnFailure',
    expected: starts('a'),
  },
  'out of memory ends a pod that never restarts': {
    init: two,
    has: [exited('a', 0, 'OOMKilled')],
    policy: 'Never',
    expected: failed,
  },
  'one in an unknown state is killed and started': {
    init: two,
    has: [instance({ name: 'a', state: 'unknown' })],
    policy: 'OnFailure',
    expected: {
      ...starts('a'),
      kill: [
        {
          id: 'a-0',
          name: 'a',
          cause: 'unknown',
          message: UNKNOWN,
        },
      ],
    },
  },
  'one in an unknown state ends a pod that never restarts': {
    init: two,
    has: [instance({ name: 'a', state: 'unknown' })],
    policy: 'Never',
    expected: failed,
  },
  'none counts once a regular one runs': { init: two, has: [instance(), exited('a', 1)], expected: done },
  'none counts once a regular one was made': { init: two, has: [instance({ state: 'created' })], expected: done },
  'a regular one that exited does not count': { init: two, has: [exited('main', 0)], expected: starts('a') },
  'a regular one of an older sandbox does not count': {
    init: two,
    has: [exited('a', 0), instance({ state: 'created', sandboxId: 'old' })],
    expected: starts('b'),
  },
}

const probe = { startupProbe: {} }
const killed = (cause: 'changed' | 'liveness' | 'startup', text: string, name = 's') => [
  { id: `${name}-0`, name, cause, message: `Init container ${name} ${text}` },
]

const sidecarRows: Readonly<Record<string, Row>> = {
  'a sidecar that was made and not started is started': {
    init: [sidecar('s'), init('b')],
    has: [instance({ name: 's', state: 'created' })],
    expected: starts('s'),
  },
  'the next one follows a sidecar that runs': {
    init: [sidecar('s'), init('b')],
    has: [instance({ name: 's' })],
    expected: starts('b'),
  },
  'the last sidecar runs': { init: [sidecar('s')], has: [instance({ name: 's' })], expected: done },
  'a sidecar without a word of its startup probe is waited for': {
    init: [sidecar('s', probe), init('b')],
    has: [instance({ name: 's' })],
    expected: nothing,
  },
  'the last sidecar without a word of its startup probe is waited for': {
    init: [sidecar('s', probe)],
    has: [instance({ name: 's' })],
    expected: nothing,
  },
  'a sidecar whose startup probe passed counts': {
    init: [sidecar('s', probe), init('b')],
    has: [instance({ name: 's' })],
    startup: { 's-0': true },
    expected: starts('b'),
  },
  'a sidecar whose startup probe failed is killed and started': {
    init: [sidecar('s', probe), init('b')],
    has: [instance({ name: 's' })],
    startup: { 's-0': false },
    expected: { ...starts('s'), kill: killed('startup', 'failed startup probe') },
  },
  'a sidecar whose liveness probe failed is killed and started, and the next one starts': {
    init: [sidecar('s'), init('b')],
    has: [instance({ name: 's' })],
    liveness: { 's-0': false },
    expected: { ...starts('s', 'b'), kill: killed('liveness', 'failed liveness probe') },
  },
  'a sidecar with another image is killed and started': {
    init: [sidecar('s')],
    has: [instance({ name: 's', hash: 'old' })],
    liveness: { 's-0': false },
    expected: { ...done, start: ['s'], kill: killed('changed', 'definition changed') },
  },
  'a sidecar that exited well starts again': {
    init: [sidecar('s'), init('b')],
    has: [exited('s', 0)],
    expected: starts('s'),
  },
  'a sidecar of a pod that never restarts starts again': {
    init: [sidecar('s'), init('b')],
    has: [exited('s', 1)],
    policy: 'Never',
    expected: starts('s'),
  },
  'a sidecar in an unknown state is killed and started': {
    init: [sidecar('s')],
    has: [instance({ name: 's', state: 'unknown' })],
    policy: 'Never',
    expected: { ...starts('s'), kill: [{ id: 's-0', name: 's', cause: 'unknown', message: UNKNOWN }] },
  },
  'a sidecar whose postStart hook failed, and whose stop was not finished, is killed and started': {
    init: [sidecar('s')],
    has: [instance({ name: 's' })],
    failedStarts: ['s-0'],
    expected: {
      ...starts('s'),
      kill: [{ id: 's-0', name: 's', cause: 'postStart', message: 'FailedPostStartHook' }],
    },
  },
  'a sidecar that crashed beside a running pod starts again alone': {
    init: [init('a'), sidecar('s'), init('b')],
    has: [instance(), exited('s', 1), exited('b', 0), exited('a', 0)],
    expected: { ...done, start: ['s'] },
  },
  'a sidecar that is missing beside a running pod starts': {
    init: [init('a'), sidecar('s')],
    has: [instance()],
    expected: { ...done, start: ['s'] },
  },
  'a sidecar before an init container that runs starts again': {
    init: [sidecar('s'), init('b')],
    has: [instance({ name: 'b' }), exited('s', 1)],
    expected: starts('s'),
  },
  'a missing sidecar before one that is known starts': {
    init: [sidecar('s'), sidecar('t'), init('b')],
    has: [instance({ name: 't' })],
    expected: starts('s', 'b'),
  },
  'several sidecars start in the order of the spec': {
    init: [sidecar('s'), sidecar('t')],
    has: [instance(), exited('t', 1), exited('s', 1)],
    expected: { ...done, start: ['s', 't'] },
  },
  'a sidecar after the first is not started too early': {
    init: [init('a'), sidecar('s')],
    has: [instance({ name: 'a' })],
    expected: nothing,
  },
}

describe('computeInitContainerActions()', () => {
  for (const [name, row] of Object.entries({ ...rows, ...sidecarRows })) {
    test(name, () => {
      const pod = createPod({ spec: { initContainers: row.init, restartPolicy: row.policy } })
      const probes = {
        startup: new Map(Object.entries(row.startup ?? {})),
        liveness: new Map(Object.entries(row.liveness ?? {})),
      }
      const observed = createObservedPod({ containers: row.has ?? [] })
      assert.deepEqual(
        computeInitContainerActions(pod, observed, {
          probes,
          resized: new Set(),
          failedStarts: new Set(row.failedStarts),
        }),
        row.expected,
      )
    })
  }
})

test('hasInitFailedForGood() is true for what no restart follows, never for a sidecar', () => {
  const failedForGood = (containers: readonly Container[], restartPolicy: string, has: ObservedContainer) =>
    hasInitFailedForGood(
      createPod({ spec: { initContainers: containers, restartPolicy } }),
      createObservedPod({ containers: [has] }),
    )
  assert.equal(failedForGood([init('a')], 'Never', exited('a', 1)), true)
  assert.equal(failedForGood([init('a')], 'Never', instance({ name: 'a', state: 'unknown' })), true)
  assert.equal(failedForGood([init('a')], 'OnFailure', exited('a', 1)), false)
  assert.equal(failedForGood([init('a')], 'Never', exited('a', 0)), false)
  assert.equal(failedForGood([sidecar('a')], 'Never', exited('a', 1)), false)
  assert.equal(failedForGood([init('a')], 'Never', exited('main', 1)), false)
})
