import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { createContainerStatus, STATUS_NOW, STATUS_NOW_TEXT } from '../../../test/builders/create-status-input.ts'
import type { ContainerStatus, PodCondition } from '../../model/generated/core-v1.ts'
import { computeConditions, isOwnCondition } from './compute-conditions.ts'
import type { ConditionsInput } from './compute-conditions.ts'

const EARLIER = '2025-12-31T00:00:00Z'
const ready = (name: string): ContainerStatus =>
  createContainerStatus({ name, ready: true, started: true, state: { running: {} } })
const unready = (name: string): ContainerStatus => createContainerStatus({ name, state: { waiting: {} } })
const spec = {
  containers: [createContainer({ name: 'b' }), createContainer({ name: 'a' })],
  initContainers: [createContainer({ name: 'i' }), createContainer({ name: 's', restartPolicy: 'Always' })],
}
const done = createContainerStatus({ name: 'i', ready: true, state: { terminated: { exitCode: 0 } } })

function compute(parts: Partial<ConditionsInput> = {}): Record<string, PodCondition> {
  const conditions = computeConditions({
    pod: createPod({ spec }),
    phase: 'Running',
    init: [done, ready('s')],
    regular: [ready('a'), ready('b')],
    sandboxUsable: true,
    reportsSandbox: true,
    restartsAll: false,
    resize: [],
    previous: [],
    observedGeneration: undefined,
    now: STATUS_NOW,
    ...parts,
  })
  return Object.fromEntries(conditions.map((condition) => [condition.type, condition]))
}

const is = (type: string, status: string, reason?: string, message?: string): PodCondition => ({
  type,
  status,
  ...(reason === undefined ? {} : { reason }),
  ...(message === undefined ? {} : { message }),
  lastTransitionTime: STATUS_NOW_TEXT,
})

interface Row {
  readonly input: Partial<ConditionsInput>
  readonly expected: PodCondition
}

const gated = createPod({ spec: { readinessGates: [{ conditionType: 'x' }, { conditionType: 'y' }] } })
const gates = (...conditions: readonly PodCondition[]): Partial<ConditionsInput> => ({
  pod: gated,
  init: [],
  regular: [ready('main')],
  previous: conditions,
})

const rows: Readonly<Record<string, Row>> = {
  'always scheduled': { input: {}, expected: is('PodScheduled', 'True') },
  'with a usable sandbox': { input: {}, expected: is('PodReadyToStartContainers', 'True') },
  'without a usable sandbox': { input: { sandboxUsable: false }, expected: is('PodReadyToStartContainers', 'False') },
  'initialized without init containers': {
    input: { pod: createPod(), init: [] },
    expected: is('Initialized', 'True'),
  },
  'initialized when all are done': { input: { regular: [unready('a')] }, expected: is('Initialized', 'True') },
  'not initialized': {
    input: { init: [unready('i'), unready('s')], regular: [unready('a'), unready('b')] },
    expected: is('Initialized', 'False', 'ContainersNotInitialized', 'containers with incomplete status: [i s]'),
  },
  'not initialized, a sidecar is ready but not started': {
    input: { init: [done, { ...ready('s'), started: false }], regular: [unready('a')] },
    expected: is('Initialized', 'False', 'ContainersNotInitialized', 'containers with incomplete status: [s]'),
  },
  'initialized, a sidecar is started but not ready': {
    input: { init: [done, { ...ready('s'), ready: false }], regular: [unready('a')] },
    expected: is('Initialized', 'True'),
  },
  'not initialized, one is not reported': {
    input: { init: [unready('s')], regular: [unready('a')] },
    expected: is(
      'Initialized',
      'False',
      'ContainersNotInitialized',
      'containers with unknown status: [i], containers with incomplete status: [s]',
    ),
  },
  'not initialized, none is reported': {
    input: { init: [], regular: [unready('a')] },
    expected: is('Initialized', 'False', 'UnknownContainerStatuses'),
  },
  'initialized once a regular container ran': {
    input: { init: [unready('i'), unready('s')], regular: [ready('a')] },
    expected: is('Initialized', 'True'),
  },
  'initialized once a regular container ended': {
    input: { init: [unready('i')], regular: [{ ...unready('a'), state: { terminated: { exitCode: 1 } } }] },
    expected: is('Initialized', 'True'),
  },
  'initialized as before': {
    input: {
      init: [unready('i'), unready('s')],
      regular: [unready('a')],
      previous: [{ type: 'Initialized', status: 'True' }],
    },
    expected: is('Initialized', 'True'),
  },
  'initialized and ended': { input: { phase: 'Succeeded' }, expected: is('Initialized', 'True', 'PodCompleted') },
  'containers ready': { input: {}, expected: is('ContainersReady', 'True') },
  'containers not ready, in the order of the spec': {
    input: { init: [done, unready('s')], regular: [unready('a'), unready('b')] },
    expected: is('ContainersReady', 'False', 'ContainersNotReady', 'containers with unready status: [s b a]'),
  },
  'containers not reported come first': {
    input: { regular: [unready('b')] },
    expected: is(
      'ContainersReady',
      'False',
      'ContainersNotReady',
      'containers with unknown status: [a], containers with unready status: [b]',
    ),
  },
  'a plain init container is not asked': {
    input: { init: [unready('i'), ready('s')] },
    expected: is('ContainersReady', 'True'),
  },
  'no containers reported': {
    input: { init: [], regular: [] },
    expected: is('ContainersReady', 'False', 'UnknownContainerStatuses'),
  },
  'containers of a pod that succeeded': {
    input: { phase: 'Succeeded' },
    expected: is('ContainersReady', 'False', 'PodCompleted'),
  },
  'containers of a pod that failed': {
    input: { phase: 'Failed' },
    expected: is('ContainersReady', 'False', 'PodFailed'),
  },
  ready: { input: {}, expected: is('Ready', 'True') },
  'not ready as its containers': {
    input: { regular: [ready('a'), unready('b')] },
    expected: is('Ready', 'False', 'ContainersNotReady', 'containers with unready status: [b]'),
  },
  'not ready because it failed': { input: { phase: 'Failed' }, expected: is('Ready', 'False', 'PodFailed') },
  'ready with its gates': {
    input: gates({ type: 'x', status: 'True' }, { type: 'y', status: 'True' }),
    expected: is('Ready', 'True'),
  },
  'gates do not matter to the containers': { input: gates(), expected: is('ContainersReady', 'True') },
  'not ready for its gates': {
    input: gates({ type: 'y', status: 'False' }),
    expected: is(
      'Ready',
      'False',
      'ReadinessGatesNotReady',
      'corresponding condition of pod readiness gate "x" does not exist., the status of pod readiness gate "y" is not "True", but False',
    ),
  },
}

describe('computeConditions()', () => {
  for (const [name, { input, expected }] of Object.entries(rows)) {
    test(name, () => assert.deepEqual(compute(input)[expected.type], expected))
  }

  test('keeps the conditions of others before its own, untouched', () => {
    const foreign: PodCondition = { type: 'example.com/x', status: 'Unknown', lastProbeTime: EARLIER, reason: 'Other' }
    const conditions = compute({ previous: [{ type: 'Ready', status: 'False' }, foreign] })
    assert.deepEqual(Object.keys(conditions), [
      'example.com/x',
      'PodReadyToStartContainers',
      'Initialized',
      'Ready',
      'ContainersReady',
      'PodScheduled',
    ])
    assert.deepEqual(conditions['example.com/x'], foreign)
  })

  test('reports whether all containers restart only of a pod that can come to it', () => {
    const all = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }
    const pod = createPod({
      spec: { ...spec, containers: [createContainer({ restartPolicy: 'Never', restartPolicyRules: [all] })] },
    })
    const of = (parts: Partial<ConditionsInput>) => compute({ pod, ...parts })['AllContainersRestarting']
    assert.equal(compute({ restartsAll: true })['AllContainersRestarting'], undefined)
    assert.deepEqual(of({ observedGeneration: 7 }), is('AllContainersRestarting', 'False'))
    assert.deepEqual(
      of({ restartsAll: true }),
      is('AllContainersRestarting', 'True', 'RestartAllContainersStarted', 'container exited with restart policy rule'),
    )
    assert.deepEqual(of({ restartsAll: true, phase: 'Failed' }), is('AllContainersRestarting', 'False', 'PodFailed'))
    assert.deepEqual(of({ phase: 'Succeeded' }), is('AllContainersRestarting', 'False', 'PodCompleted'))
  })

  test('moves a transition time only with the status', () => {
    const previous = ['Initialized', 'Ready', 'ContainersReady'].map((type) => ({
      type,
      status: type === 'Ready' ? 'False' : 'True',
      reason: 'Old',
      lastTransitionTime: EARLIER,
    }))
    const conditions = compute({ previous })
    assert.deepEqual(
      Object.values(conditions).map(({ type, lastTransitionTime, reason }) => [type, lastTransitionTime, reason]),
      [
        ['PodReadyToStartContainers', STATUS_NOW_TEXT, undefined],
        ['Initialized', EARLIER, undefined],
        ['Ready', STATUS_NOW_TEXT, undefined],
        ['ContainersReady', EARLIER, undefined],
        ['PodScheduled', STATUS_NOW_TEXT, undefined],
      ],
    )
  })

  test('reports the generation with each condition of its own', () => {
    const conditions = compute({ observedGeneration: 7, previous: [{ type: 'x', status: 'True' }] })
    assert.deepEqual(
      Object.values(conditions).map(({ observedGeneration }) => observedGeneration),
      [undefined, 7, 7, 7, 7, 7],
    )
  })
})

test('isOwnCondition() knows which conditions the node says', () => {
  assert.deepEqual(['Ready', 'PodScheduled', 'DisruptionTarget', 'x'].map(isOwnCondition), [true, true, false, false])
})
