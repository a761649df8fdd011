import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createInstance as instance,
  createObservedPod,
  createObservedSandbox as sandbox,
} from '../../../test/builders/create-observed-pod.ts'
import { createContainer } from '../../../test/builders/create-pod.ts'
import { createContainerStatus as reported, createSpecInput } from '../../../test/builders/create-status-input.ts'
import type { Container, ContainerStatus } from '../../model/generated/core-v1.ts'
import type { ObservedContainer } from '../../model/pod/observed-pod.ts'
import { computeContainerStatuses } from './compute-container-statuses.ts'
import type { WaitingReason } from './status-input.ts'

const plain = createContainer({ name: 'i' })
const sidecar = createContainer({ name: 'i', restartPolicy: 'Always' })
const exited = (exitCode: number) => instance({ name: 'i', state: 'exited', exitCode })
const running = instance({ name: 'i' })
const wait: WaitingReason = { reason: 'CrashLoopBackOff', message: 'wait' }
const initializing = { waiting: { reason: 'PodInitializing' } }
const completed = {
  terminated: {
    exitCode: 0,
    reason: 'Completed',
    message:
      'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
  },
}

interface Row {
  readonly container?: Container
  readonly has?: readonly ObservedContainer[]
  readonly old?: ContainerStatus
  readonly policy?: string
  readonly wait?: true
  readonly notStarted?: true
  /** State, ready and started. */
  readonly expected: readonly [string | object, boolean, boolean]
}

const rows: Readonly<Record<string, Row>> = {
  'not made yet': { expected: [initializing, false, false] },
  'a sidecar not made yet': { container: sidecar, expected: [initializing, false, false] },
  running: { has: [running], expected: ['running', false, true] },
  'ended well': { has: [exited(0)], expected: ['terminated', true, false] },
  'ended badly': { has: [exited(1)], expected: ['terminated', false, false] },
  'a sidecar that runs': { container: sidecar, has: [running], expected: ['running', true, true] },
  'a sidecar that is not started': {
    container: sidecar,
    has: [running],
    notStarted: true,
    expected: ['running', false, false],
  },
  'a sidecar that ended well': { container: sidecar, has: [exited(0)], expected: ['terminated', false, false] },
  'cleaned up beside a regular container': { has: [instance()], expected: [completed, true, false] },
  'cleaned up beside a regular container that ended': {
    has: [instance({ state: 'exited' })],
    expected: [completed, true, false],
  },
  'a regular container of an older sandbox says nothing': {
    has: [instance({ state: 'exited', sandboxId: 'old' })],
    expected: [initializing, false, false],
  },
  'a missing sidecar beside a regular container': {
    container: sidecar,
    has: [instance()],
    expected: [initializing, false, false],
  },
  'ended badly and backing off': { has: [exited(1)], wait: true, expected: [{ waiting: wait }, false, false] },
  'ended well, so there is nothing to wait for': {
    has: [exited(0)],
    wait: true,
    expected: ['terminated', true, false],
  },
  'ended badly for good, so there is nothing to wait for': {
    has: [exited(1)],
    wait: true,
    policy: 'Never',
    expected: ['terminated', false, false],
  },
  'a sidecar that ended well is shown as ended while it waits': {
    container: sidecar,
    has: [exited(0)],
    wait: true,
    expected: ['terminated', false, false],
  },
  'a sidecar that ended badly waits, whatever the pod says': {
    container: sidecar,
    has: [exited(1)],
    wait: true,
    policy: 'Never',
    expected: [{ waiting: wait }, false, false],
  },
}

describe('computeContainerStatuses() of an init container', () => {
  for (const [name, row] of Object.entries(rows)) {
    test(name, () => {
      const container = row.container ?? plain
      const input = createSpecInput(
        { initContainers: [container], restartPolicy: row.policy },
        {
          observed: createObservedPod({ containers: row.has ?? [] }),
          waiting: new Map(row.wait === true ? [['i', wait]] : []),
          started: new Map(row.notStarted === true ? [['i-0', false]] : []),
        },
      )
      const [status] = computeContainerStatuses(input, 'init', [container])
      const [state, ready, started] = row.expected
      const shown = typeof state === 'string' ? Object.keys(status?.state ?? {})[0] : status?.state
      assert.deepEqual([shown, status?.ready, status?.started], [state, ready, started])
    })
  }

  test('regular containers wait for initialization too', () => {
    const input = createSpecInput({ initContainers: [plain] })
    assert.deepEqual(computeContainerStatuses(input, 'regular', [createContainer()])[0]?.state, initializing)
  })

  test('one that was lost while it ran and is done leaves both behind', () => {
    const previously = { initContainerStatuses: [reported({ name: 'i', state: { running: {} } })] }
    const observed = createObservedPod({ containers: [instance()], sandboxes: [sandbox()] })
    const input = createSpecInput({ initContainers: [plain] }, { previously, observed })
    const [status] = computeContainerStatuses(input, 'init', [plain])
    assert.deepEqual(
      [status?.state, status?.lastState?.terminated?.reason, status?.restartCount],
      [completed, 'ContainerStatusUnknown', 1],
    )
  })
})
