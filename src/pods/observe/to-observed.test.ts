import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  Container,
  ContainerState,
  ContainerStatus,
  NamespaceMode,
  PodSandboxStatus,
  Signal,
} from '../../protocols/cri/generated/runtime-v1.ts'
import { hasListedState, toObservedContainer, toObservedSandbox } from './to-observed.ts'

const listed = Container.fromPartial({ podSandboxId: 's', labels: { 'io.kubernetes.container.name': 'main' } })
const reported = {
  id: 'c',
  metadata: { name: 'other' },
  createdAt: 1_000_000n,
  startedAt: 2_000_000n,
  finishedAt: 3_500_000n,
  exitCode: 4,
  reason: 'Error',
  message: 'words',
  image: { image: 'app:1' },
  imageRef: 'sha256:1',
  logPath: '/log',
  annotations: { 'io.kubernetes.container.hash': 'abc', 'io.kubernetes.container.restartCount': '2' },
}
const observe = (state: ContainerState, parts: object = {}) =>
  toObservedContainer(listed, ContainerStatus.fromPartial({ ...reported, state, ...parts }), {
    runsSince: 5,
    endSeenAt: 7,
  })
const common = {
  id: 'c',
  name: 'main',
  sandboxId: 's',
  hash: 'abc',
  restartCount: 2,
  createdAt: 1,
  image: 'app:1',
  imageRef: 'sha256:1',
  logPath: '/log',
  terminationLog: '',
}
const alive = { runsSince: 0, finishedAt: 0, endSeenAt: 0, exitCode: 0, reason: '', message: '' }

describe('toObservedContainer()', () => {
  test('takes an end only from what exited, and a start from all but what was only made', () => {
    assert.deepEqual(observe(ContainerState.CONTAINER_CREATED), { ...common, state: 'created', startedAt: 0, ...alive })
    assert.deepEqual(observe(ContainerState.CONTAINER_RUNNING), {
      ...common,
      state: 'running',
      startedAt: 2,
      ...alive,
      runsSince: 5,
    })
    const unknown = { ...common, state: 'unknown', startedAt: 2, ...alive, keptSpec: {} }
    assert.deepEqual(observe(ContainerState.CONTAINER_UNKNOWN), unknown)
    assert.deepEqual(observe(ContainerState.CONTAINER_EXITED), {
      ...common,
      state: 'exited',
      startedAt: 2,
      runsSince: 0,
      finishedAt: 3.5,
      endSeenAt: 7,
      exitCode: 4,
      reason: 'Error',
      message: 'words',
    })
  })

  test('takes what newer runtimes report of resources, signal and mounts', () => {
    const { applied, stopSignal, recursiveReadOnly } = observe(ContainerState.CONTAINER_RUNNING, {
      resources: { linux: { cpuShares: 102n, cpuQuota: 20_000n, cpuPeriod: 100_000n, memoryLimitInBytes: 64n } },
      stopSignal: Signal.SIGUSR1,
      mounts: [{ containerPath: '/a' }, { containerPath: '/b', readonly: true, recursiveReadOnly: true }],
    })
    assert.deepEqual(applied, { cpuShares: 102n, cpuQuota: 20_000n, cpuPeriod: 100_000n, memoryLimitBytes: 64n })
    assert.deepEqual([stopSignal, recursiveReadOnly], ['SIGUSR1', ['/b']])
  })

  test('keeps the note of its devices', () => {
    const annotations = { 'io.deckhand.container.devices': '{}' }
    assert.equal(observe(ContainerState.CONTAINER_RUNNING, { annotations }).devices, '{}')
    assert.equal('devices' in observe(ContainerState.CONTAINER_RUNNING), false)
  })

  test('counts a state that came later as unknown', () => {
    assert.equal(observe(17 as ContainerState).state, 'unknown')
  })

  test('reads what a runtime does not note as nothing', () => {
    const { hash, restartCount } = observe(ContainerState.CONTAINER_RUNNING, { annotations: {} })
    assert.deepEqual([hash, restartCount], ['', 0])
    const odd = { 'io.kubernetes.container.restartCount': 'many' }
    assert.equal(observe(ContainerState.CONTAINER_RUNNING, { annotations: odd }).restartCount, 0)
  })

  test('finds the file of the termination message by its mount', () => {
    const annotations = { 'io.kubernetes.container.terminationMessagePath': '/last' }
    const mounts = [
      { containerPath: '/x', hostPath: '/host/x' },
      { containerPath: '/last', hostPath: '/host/last' },
    ]
    assert.equal(observe(ContainerState.CONTAINER_EXITED, { annotations, mounts }).terminationLog, '/host/last')
    assert.equal(observe(ContainerState.CONTAINER_EXITED, { mounts }).terminationLog, '')
  })

  test('knows the user', () => {
    const user = { linux: { uid: 1n, gid: 2n, supplementalGroups: [3n] } }
    assert.deepEqual(observe(ContainerState.CONTAINER_RUNNING, { user }).user, {
      uid: 1,
      gid: 2,
      supplementalGroups: [3],
    })
  })
})

test('toObservedSandbox() reads namespaces, handler and all addresses', () => {
  const status = { id: 's', metadata: { attempt: 2 }, createdAt: 5_000_000n }
  const node = { namespaces: { options: { network: NamespaceMode.NODE } } }
  const ids = [{ hostId: 65_536, containerId: 0, length: 65_536 }]
  const usersOfNode = { namespaces: { options: { usernsOptions: { mode: NamespaceMode.NODE } } } }
  const ownUsers = { namespaces: { options: { usernsOptions: { mode: NamespaceMode.POD, uids: ids, gids: ids } } } }
  const rows = [
    [
      { state: 0, network: { ip: 'a', additionalIps: [{ ip: 'b' }] } },
      { ready: true, ips: ['a', 'b'] },
    ],
    [
      { state: 0, network: { ip: '' } },
      { ready: true, ips: [] },
    ],
    [{ state: 1 }, { ready: false, ips: undefined }],
    [
      { state: 0, linux: node },
      { ready: true, ips: undefined, hostNetwork: true },
    ],
    [
      { state: 0, linux: usersOfNode },
      { ready: true, ips: undefined },
    ],
    [
      { state: 0, linux: ownUsers, runtimeHandler: 'kata' },
      { ready: true, ips: undefined, runtimeHandler: 'kata', userNamespace: { uids: ids, gids: ids } },
    ],
  ] as const
  for (const [parts, expected] of rows)
    assert.deepEqual(toObservedSandbox(PodSandboxStatus.fromPartial({ ...status, ...parts })), {
      id: 's',
      attempt: 2,
      createdAt: 5,
      hostNetwork: false,
      ...expected,
    })
})

const NO_TASK = 'failed to create containerd task: failed to create shim task: context canceled: unknown'
const broken = { startedAt: 0n, exitCode: 128, reason: 'StartError', message: NO_TASK }

test('toObservedContainer() distinguishes a start that was broken off from one that failed', () => {
  const rows = [
    [{}, 'created'],
    [{ message: 'failed to create containerd task: start failed: : signal: killed: unknown' }, 'created'],
    // Its program may have begun: of such starts one in four had said something.
    [{ message: 'failed to start containerd task "ab": context canceled: unknown' }, 'exited'],
    [{ message: 'exec: "nope": not found' }, 'exited'],
    [{ startedAt: 1_000_000n, reason: 'Error' }, 'exited'],
  ] as const
  for (const [fields, state] of rows) {
    assert.equal(observe(ContainerState.CONTAINER_EXITED, { ...broken, ...fields }).state, state)
  }
})

test('toObservedContainer() marks a start that was broken off when its program may have begun', () => {
  const rows = [
    [{}, undefined],
    [{ message: 'failed to start containerd task "ab": context canceled: unknown' }, true],
    [{ message: 'failed to get task pid: context canceled' }, true],
    [{ message: 'exec: "nope": not found' }, undefined],
    [{ message: 'context canceled', startedAt: 1_000_000n, reason: 'Error' }, undefined],
  ] as const
  for (const [fields, expected] of rows) {
    assert.equal(observe(ContainerState.CONTAINER_EXITED, { ...broken, ...fields }).isBrokenOff, expected)
  }
})

test('hasListedState() knows a start that was broken off by the state that the runtime gives it', () => {
  const instance = observe(ContainerState.CONTAINER_EXITED, broken)
  assert.equal(hasListedState(instance, ContainerState.CONTAINER_EXITED), true)
  assert.equal(hasListedState(instance, ContainerState.CONTAINER_RUNNING), false)
  const created = { ...instance, finishedAt: 0 }
  assert.equal(hasListedState(created, ContainerState.CONTAINER_EXITED), false)
  assert.equal(hasListedState(created, ContainerState.CONTAINER_CREATED), true)
})
