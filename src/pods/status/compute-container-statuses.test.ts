import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createInstance as instance, createObservedPod } from '../../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import {
  createContainerStatus as reported,
  createStatusInput,
  STATUS_NOW,
  STATUS_NOW_TEXT,
} from '../../../test/builders/create-status-input.ts'
import type { Container, ContainerStatus } from '../../model/generated/core-v1.ts'
import type { ObservedContainer } from '../../model/pod/observed-pod.ts'
import type { ContainerKind } from '../../model/pod/pod-containers.ts'
import { computeContainerStatuses } from './compute-container-statuses.ts'
import type { StatusInput } from './status-input.ts'

/** The statuses of ephemeral containers do not say whether they started. */
function withoutStarted(status: ContainerStatus): ContainerStatus {
  const { started: _started, ...rest } = status
  return rest
}

interface Row {
  readonly kind?: ContainerKind
  readonly container?: Partial<Container>
  readonly deleted?: boolean
  readonly old?: ContainerStatus
  readonly has?: readonly ObservedContainer[]
  readonly input?: Partial<StatusInput>
  readonly expected: ContainerStatus
}

const created: ContainerStatus = {
  name: 'main',
  state: { waiting: { reason: 'ContainerCreating' } },
  ready: false,
  started: false,
  restartCount: 0,
  image: 'registry.test/app:1',
  imageID: '',
}
const present: ContainerStatus = {
  ...created,
  state: { waiting: {} },
  imageID: 'sha256:1',
  containerID: 'containerd://main-0',
  resources: {},
}
const AT = { startedAt: STATUS_NOW, finishedAt: STATUS_NOW + 1999 }
const runs: ContainerStatus = {
  ...present,
  state: { running: { startedAt: STATUS_NOW_TEXT } },
  ready: true,
  started: true,
}
const exit = (exitCode: number, id = 'main-0') => ({
  terminated: {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: STATUS_NOW_TEXT,
    finishedAt: '2026-01-01T00:00:01Z',
    containerID: `containerd://${id}`,
  },
})
const exited = (exitCode: number, parts: Partial<ObservedContainer> = {}) =>
  instance({ state: 'exited', exitCode, ...AT, ...parts })
const lost = (message: string) => ({ terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message } })
const LOST_DELETED = 'The container could not be located when the pod was deleted.  The container used to be Running'
const LOST_TERMINATED = 'The container could not be located when the pod was terminated'
const wasRunning = { running: { startedAt: STATUS_NOW_TEXT } }
const waiting = (reason: string, message = '') => ({ waiting: new Map([['main', { reason, message }]]) })

const absentRows: Readonly<Record<string, Row>> = {
  'not made yet': { expected: created },
  'not made yet, ephemeral': {
    kind: 'ephemeral',
    expected: withoutStarted(created),
  },
  'not made yet, with mounts': {
    container: {
      volumeMounts: [
        { name: 'a', mountPath: '/a' },
        { name: 'b', mountPath: '/b', readOnly: true },
        { name: 'c', mountPath: '/c', readOnly: true, recursiveReadOnly: 'Enabled' },
      ],
    },
    expected: {
      ...created,
      volumeMounts: [
        { name: 'a', mountPath: '/a' },
        { name: 'b', mountPath: '/b', readOnly: true, recursiveReadOnly: 'Disabled' },
        { name: 'c', mountPath: '/c', readOnly: true, recursiveReadOnly: 'Enabled' },
      ],
    },
  },
  'reported as ended before': {
    old: reported({ state: exit(3), restartCount: 2 }),
    expected: reported({ state: exit(3), restartCount: 2 }),
  },
  'reported as waiting before': {
    old: reported({ state: { waiting: {} }, restartCount: 2, lastState: exit(3) }),
    expected: { ...created, restartCount: 2, lastState: exit(3) },
  },
  'reported as running before': {
    old: reported({ state: wasRunning, restartCount: 2 }),
    expected: { ...created, restartCount: 3, lastState: lost(LOST_DELETED) },
  },
  'reported as running before, the pod is deleted': {
    old: reported({ state: wasRunning, restartCount: 2 }),
    deleted: true,
    expected: { ...created, restartCount: 2, lastState: lost(LOST_DELETED) },
  },
  'reported as running before, with an end before that': {
    old: reported({ state: wasRunning, restartCount: 2, lastState: exit(3) }),
    expected: { ...created, restartCount: 2, lastState: exit(3) },
  },
}

const presentRows: Readonly<Record<string, Row>> = {
  created: { has: [instance({ state: 'created' })], expected: present },
  running: { has: [instance(AT)], expected: runs },
  'running, not started': {
    has: [instance(AT)],
    input: { started: new Map([['main-0', false]]) },
    expected: { ...runs, started: false, ready: false },
  },
  'running, not ready': {
    has: [instance(AT)],
    input: { ready: new Map([['main-0', false]]) },
    expected: { ...runs, ready: false },
  },
  'running, ephemeral': {
    kind: 'ephemeral',
    has: [instance(AT)],
    expected: { ...withoutStarted(runs), ready: false },
  },
  'running as a user': {
    has: [instance({ ...AT, user: { uid: 1, gid: 2, supplementalGroups: [3] } })],
    expected: { ...runs, user: { linux: { uid: 1, gid: 2, supplementalGroups: [3] } } },
  },
  'exited well': { has: [exited(0)], expected: { ...present, state: exit(0) } },
  'exited badly': { has: [exited(1)], expected: { ...present, state: exit(1) } },
  'exited with a reason and a message': {
    has: [exited(1, { reason: 'OOMKilled', message: 'from the runtime' })],
    input: { terminationMessages: new Map([['main-0', 'from the container']]) },
    expected: {
      ...present,
      state: {
        terminated: { ...exit(1).terminated, reason: 'OOMKilled', message: 'from the runtime: from the container' },
      },
    },
  },
  'could not be started': {
    has: [exited(128, { startedAt: 0 })],
    expected: {
      ...present,
      state: { terminated: { ...exit(128).terminated, startedAt: '1970-01-01T00:00:00Z' } },
    },
  },
  'unknown and reported as running before': {
    has: [instance({ state: 'unknown', restartCount: 1 })],
    old: reported({ state: wasRunning, restartCount: 1, containerID: 'containerd://main-1' }),
    expected: {
      ...present,
      containerID: 'containerd://main-1',
      state: lost(LOST_TERMINATED),
      restartCount: 2,
    },
  },
  'unknown and reported as lost before': {
    has: [instance({ state: 'unknown', restartCount: 1 })],
    old: reported({ state: lost(LOST_TERMINATED), restartCount: 2, containerID: 'containerd://main-1' }),
    expected: { ...present, containerID: 'containerd://main-1', state: lost(LOST_TERMINATED), restartCount: 2 },
  },
  'unknown otherwise': { has: [instance({ state: 'unknown' })], expected: present },
  'the second newest gives the last state': {
    has: [instance({ ...AT, restartCount: 2 }), exited(3, { restartCount: 1 }), exited(4)],
    expected: { ...runs, containerID: 'containerd://main-2', restartCount: 2, lastState: exit(3, 'main-1') },
  },
  'a copy that still runs is no last state': {
    has: [instance({ ...AT, restartCount: 2 }), instance({ restartCount: 1 }), exited(4)],
    expected: { ...runs, containerID: 'containerd://main-2', restartCount: 2, lastState: exit(4) },
  },
  'the last state stays when its instance is cleaned up': {
    has: [instance({ ...AT, restartCount: 2 })],
    old: reported({ state: wasRunning, lastState: exit(3), restartCount: 2, containerID: 'containerd://main-2' }),
    expected: { ...runs, containerID: 'containerd://main-2', restartCount: 2, lastState: exit(3) },
  },
  'the end that was reported last becomes the last state': {
    has: [instance({ ...AT, restartCount: 1 })],
    old: reported({ state: exit(3), containerID: 'containerd://main-0' }),
    expected: { ...runs, containerID: 'containerd://main-1', restartCount: 1, lastState: exit(3) },
  },
  'a number once reported is never taken back': {
    has: [instance(AT)],
    old: reported({ state: { waiting: {} }, restartCount: 4 }),
    expected: { ...runs, restartCount: 4 },
  },
}

const waitingRows: Readonly<Record<string, Row>> = {
  'not made, with a reason': {
    input: waiting('ErrImagePull', 'no such image'),
    expected: { ...created, state: { waiting: { reason: 'ErrImagePull', message: 'no such image' } } },
  },
  'not made, with a reason without words': {
    input: waiting('ErrImagePull'),
    expected: { ...created, state: { waiting: { reason: 'ErrImagePull' } } },
  },
  'made, with a reason': {
    has: [instance({ state: 'created' })],
    input: waiting('RunContainerError', 'no'),
    expected: { ...present, state: { waiting: { reason: 'RunContainerError', message: 'no' } } },
  },
  'exited and backing off': {
    has: [exited(1)],
    input: waiting('CrashLoopBackOff', 'wait'),
    expected: {
      ...present,
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'wait' } },
      lastState: exit(1),
    },
  },
  'exited well and backing off': {
    has: [exited(0)],
    input: waiting('CrashLoopBackOff', 'wait'),
    expected: {
      ...present,
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'wait' } },
      lastState: exit(0),
    },
  },
  'exited and may not start again': {
    container: { restartPolicy: 'Never' },
    has: [exited(1)],
    input: waiting('CrashLoopBackOff'),
    expected: { ...present, state: exit(1) },
  },
  'running has no reason to wait': { has: [instance(AT)], input: waiting('ErrImagePull'), expected: runs },
  'a deleted pod waits for nothing': {
    deleted: true,
    has: [exited(1)],
    input: waiting('CrashLoopBackOff'),
    expected: { ...present, state: exit(1) },
  },
  'an ended pod waits for nothing': {
    has: [exited(1)],
    input: { ...waiting('CrashLoopBackOff'), ended: true },
    expected: { ...present, state: exit(1) },
  },
  'an ephemeral container that ended never starts again': {
    kind: 'ephemeral',
    has: [exited(1)],
    input: waiting('RunContainerError'),
    expected: { ...withoutStarted(present), state: exit(1) },
  },
}

describe('computeContainerStatuses() of a container', () => {
  for (const [name, row] of Object.entries({ ...absentRows, ...presentRows, ...waitingRows })) {
    test(name, () => {
      const { kind = 'regular', old, has = [], input = {} } = row
      const container = createContainer(row.container)
      const pod = createPod({
        metadata: row.deleted === true ? { deletionTimestamp: STATUS_NOW_TEXT } : {},
        spec: kind === 'regular' ? { containers: [container] } : { ephemeralContainers: [container] },
      })
      const list = kind === 'regular' ? 'containerStatuses' : 'ephemeralContainerStatuses'
      const statusInput = createStatusInput({
        pod,
        observed: createObservedPod({ containers: has }),
        previous: old === undefined ? undefined : { [list]: [old] },
        ...input,
      })
      assert.deepEqual(computeContainerStatuses(statusInput, kind, [container]), [row.expected])
    })
  }

  test('are sorted by name, those of init containers are not', () => {
    const containers = ['b', 'c', 'a'].map((name) => createContainer({ name }))
    const names = (kind: ContainerKind) =>
      computeContainerStatuses(createStatusInput(), kind, containers).map(({ name }) => name)
    assert.deepEqual(names('regular'), ['a', 'b', 'c'])
    assert.deepEqual(names('ephemeral'), ['a', 'b', 'c'])
    assert.deepEqual(names('init'), ['b', 'c', 'a'])
  })

  test('leave out what is not in the spec', () => {
    const observed = createObservedPod({ containers: [instance({ name: 'stranger' })] })
    assert.deepEqual(computeContainerStatuses(createStatusInput({ observed }), 'regular', [createContainer()]), [
      created,
    ])
  })
})

test('the health of devices is reported, and stays as it was where nothing new is known', () => {
  const gpu = (health: string) => ({ name: 'example.com/gpu', resources: [{ resourceID: 'a', health }] })
  const nic = { name: 'example.com/nic', resources: [] }
  const compute = (kind: ContainerKind, old: ContainerStatus | undefined, health: readonly object[]) => {
    const previous = old && { containerStatuses: [old] }
    const deviceHealth = new Map(health.length === 0 ? [] : [['main', health as never]])
    const input = createStatusInput({ previous, deviceHealth })
    return computeContainerStatuses(input, kind, [createContainer()])[0]?.allocatedResourcesStatus
  }
  assert.deepEqual(compute('regular', undefined, [gpu('Healthy')]), [gpu('Healthy')])
  const before = reported({ allocatedResourcesStatus: [nic, gpu('Healthy')] })
  assert.deepEqual(compute('regular', before, [gpu('Unhealthy')]), [nic, gpu('Unhealthy')])
  assert.deepEqual(compute('regular', before, []), [nic, gpu('Healthy')])
  assert.equal(compute('init', undefined, [gpu('Healthy')]), undefined)
  assert.equal(compute('regular', undefined, []), undefined)
})
