import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createInstance as instance,
  createObservedPod,
  createObservedSandbox as sandbox,
} from '../../../test/builders/create-observed-pod.ts'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import {
  createSpecInput,
  createStatusInput,
  STATUS_NOW,
  STATUS_NOW_TEXT,
} from '../../../test/builders/create-status-input.ts'
import type { PodCondition, PodStatus } from '../../model/generated/core-v1.ts'
import type { ObservedSandbox } from '../../model/pod/observed-pod.ts'
import { computePodStatus } from './compute-pod-status.ts'

const LATER = STATUS_NOW + 3_600_000
const find = (status: PodStatus, type: string): PodCondition | undefined =>
  status.conditions?.find((condition) => condition.type === type)
const running = createObservedPod({ containers: [instance({ startedAt: STATUS_NOW })] })
const exited = (exitCode: number) => createObservedPod({ containers: [instance({ state: 'exited', exitCode })] })
const never = createPod({ spec: { restartPolicy: 'Never' } })

describe('computePodStatus()', () => {
  test('reports all of a running pod', () => {
    const condition = (type: string) => ({
      type,
      status: 'True',
      observedGeneration: 3,
      lastTransitionTime: STATUS_NOW_TEXT,
    })
    const pod = createPod({ metadata: { generation: 3 } })
    assert.deepEqual(computePodStatus(createStatusInput({ pod, observed: running, now: STATUS_NOW + 999 })), {
      observedGeneration: 3,
      phase: 'Running',
      conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(
        condition,
      ),
      hostIP: '192.168.0.1',
      hostIPs: [{ ip: '192.168.0.1' }],
      podIP: '10.0.0.2',
      podIPs: [{ ip: '10.0.0.2' }],
      resources: {},
      startTime: STATUS_NOW_TEXT,
      containerStatuses: [
        {
          name: 'main',
          state: { running: { startedAt: STATUS_NOW_TEXT } },
          ready: true,
          started: true,
          restartCount: 0,
          image: 'registry.test/app:1',
          imageID: 'sha256:1',
          containerID: 'containerd://main-0',
          resources: {},
        },
      ],
      qosClass: 'BestEffort',
    })
  })

  test('has lists for init and ephemeral containers only when the pod has some', () => {
    const input = createSpecInput({
      initContainers: [createContainer({ name: 'i' })],
      ephemeralContainers: [{ name: 'debug' }],
    })
    const { initContainerStatuses, containerStatuses, ephemeralContainerStatuses } = computePodStatus(input)
    assert.deepEqual(
      [initContainerStatuses, containerStatuses, ephemeralContainerStatuses].map((list) =>
        list?.map(({ name }) => name),
      ),
      [['i'], ['main'], ['debug']],
    )
  })

  test('goes on from what the API holds when nothing was reported here yet', () => {
    const before = computePodStatus(createStatusInput({ observed: running }))
    const pod = createPod({ status: { ...before, startTime: '2025-01-01T00:00:00Z' } })
    const after = computePodStatus(createStatusInput({ pod, observed: createObservedPod(), now: LATER }))
    assert.equal(after.startTime, '2025-01-01T00:00:00Z')
    assert.equal(after.containerStatuses?.[0]?.lastState?.terminated?.reason, 'ContainerStatusUnknown')
    assert.equal(find(after, 'Initialized')?.lastTransitionTime, STATUS_NOW_TEXT)
  })

  test('takes the moment at which an agent without an API sees it for the start of an adopted pod', () => {
    const sandboxes = [{ createdAt: 9000 }, { createdAt: 5000 }].map((parts) => sandbox(parts))
    const status = computePodStatus(createStatusInput({ observed: createObservedPod({ sandboxes }) }))
    assert.equal(status.startTime, STATUS_NOW_TEXT)
  })

  test('reports the start once', () => {
    const first = computePodStatus(
      createStatusInput({ observed: createObservedPod({ sandboxes: [], containers: [] }) }),
    )
    const second = computePodStatus(createStatusInput({ previous: first, observed: running, now: LATER }))
    assert.deepEqual([first.startTime, second.startTime], [STATUS_NOW_TEXT, STATUS_NOW_TEXT])
  })

  test('never changes the class of a pod', () => {
    const said = createPod({ status: { qosClass: 'Guaranteed' } })
    assert.equal(computePodStatus(createStatusInput({ pod: said })).qosClass, 'Guaranteed')
    const previous = { qosClass: 'Burstable' }
    assert.equal(computePodStatus(createStatusInput({ previous })).qosClass, 'Burstable')
  })

  test('never takes a generation back', () => {
    const generation = (now: number | undefined, before: number | undefined) => {
      const pod = createPod({ metadata: { generation: now } })
      const status = computePodStatus(createStatusInput({ pod, previous: { observedGeneration: before } }))
      return [status.observedGeneration, find(status, 'Ready')?.observedGeneration]
    }
    assert.deepEqual(generation(4, 3), [4, 4])
    assert.deepEqual(generation(2, 3), [3, 3])
    assert.deepEqual(generation(undefined, undefined), [undefined, undefined])
  })

  test('leaves what others own as the API has it', () => {
    const claims = { resourceClaimStatuses: [{ name: 'gpu' }], nominatedNodeName: 'n' }
    const { resourceClaimStatuses, nominatedNodeName } = computePodStatus(
      createStatusInput({ pod: createPod({ status: claims }) }),
    )
    assert.deepEqual({ resourceClaimStatuses, nominatedNodeName }, claims)
  })

  test('takes the conditions of others from the API, and its own from what it reported', () => {
    const gate = (status: string): PodCondition => ({ type: 'gate', status })
    const spec = { readinessGates: [{ conditionType: 'gate' }] }
    const first = computePodStatus(
      createStatusInput({ pod: createPod({ spec, status: { conditions: [gate('False')] } }), observed: running }),
    )
    assert.equal(find(first, 'Ready')?.status, 'False')
    const second = computePodStatus(
      createStatusInput({
        pod: createPod({ spec, status: { conditions: [gate('True'), { type: 'Initialized', status: 'False' }] } }),
        previous: first,
        observed: running,
        now: LATER,
      }),
    )
    assert.deepEqual([find(second, 'gate'), find(second, 'Ready')?.status], [gate('True'), 'True'])
    assert.equal(find(second, 'Initialized')?.lastTransitionTime, STATUS_NOW_TEXT)
    assert.equal(second.conditions?.length, 6)
  })

  test('keeps the addresses of a sandbox that died', () => {
    const previous = computePodStatus(createStatusInput())
    const observed = createObservedPod({ sandboxes: [sandbox({ ready: false, ips: [] })] })
    const status = computePodStatus(createStatusInput({ previous, observed }))
    assert.deepEqual([status.podIP, status.podIPs], ['10.0.0.2', [{ ip: '10.0.0.2' }]])
  })
})

describe('computePodStatus() says whether containers may start:', () => {
  const rows: readonly (readonly [string, readonly ObservedSandbox[], boolean, string])[] = [
    ['no sandbox', [], false, 'False'],
    ['one that is fine', [sandbox()], false, 'True'],
    ['a dead one', [sandbox({ ready: false })], false, 'False'],
    ['two', [sandbox({ id: 's1' }), sandbox()], false, 'False'],
    ['no address', [sandbox({ ips: [] })], false, 'False'],
    ['nothing known of the network', [sandbox({ ips: undefined })], false, 'True'],
    ['another network than wanted', [sandbox()], true, 'False'],
    ['the network of the node', [sandbox({ hostNetwork: true, ips: [] })], true, 'True'],
  ]
  for (const [name, sandboxes, hostNetwork, expected] of rows) {
    test(name, () => {
      const input = createSpecInput({ hostNetwork }, { observed: createObservedPod({ sandboxes }) })
      assert.equal(find(computePodStatus(input), 'PodReadyToStartContainers')?.status, expected)
    })
  }
})

describe('computePodStatus() decides the phase:', () => {
  const override = { phase: 'Failed', reason: 'DeadlineExceeded', message: 'too long' }
  const words = ({ phase, reason, message }: PodStatus) => [phase, reason, message]

  test('a phase from outside comes with its words and stays', () => {
    const first = computePodStatus(createStatusInput({ observed: running, override }))
    assert.deepEqual(words(first), ['Failed', 'DeadlineExceeded', 'too long'])
    assert.equal(find(first, 'Ready')?.reason, 'PodFailed')
    const second = computePodStatus(createStatusInput({ observed: running, previous: first }))
    assert.deepEqual(words(second), ['Failed', 'DeadlineExceeded', 'too long'])
  })

  test('a phase from outside does not change a pod that ended', () => {
    const previous = computePodStatus(createStatusInput({ pod: never, observed: exited(0) }))
    const status = computePodStatus(createStatusInput({ pod: never, observed: exited(0), previous, override }))
    assert.deepEqual(words(status), ['Succeeded', undefined, undefined])
  })

  test('an ended pod never lives again', () => {
    for (const phase of ['Succeeded', 'Failed']) {
      const here = computePodStatus(createStatusInput({ observed: running, previous: { phase } }))
      const there = computePodStatus(createStatusInput({ observed: running, pod: createPod({ status: { phase } }) }))
      assert.deepEqual([here.phase, there.phase], [phase, phase])
    }
  })

  test('the API has the last word about an end', () => {
    const pod = createPod({ spec: never.spec, status: { phase: 'Failed', reason: 'Evicted', message: 'no room' } })
    const status = computePodStatus(createStatusInput({ pod, observed: exited(0), previous: { phase: 'Succeeded' } }))
    assert.deepEqual(words(status), ['Failed', 'Evicted', 'no room'])
  })

  test('words go with the phase they were said about, ours first', () => {
    const pod = createPod({ status: { phase: 'Running', reason: 'There', message: 'there' } })
    const status = (previous: PodStatus) =>
      words(computePodStatus(createStatusInput({ pod, observed: running, previous })))
    assert.deepEqual(status({ phase: 'Running', reason: 'Here' }), ['Running', 'Here', 'there'])
    assert.deepEqual(status({ phase: 'Pending', reason: 'Here' }), ['Running', 'There', 'there'])
  })

  test('words of another phase are dropped', () => {
    const previous = { phase: 'Pending', reason: 'Here', message: 'here' }
    assert.deepEqual(words(computePodStatus(createStatusInput({ observed: running, previous }))), [
      'Running',
      undefined,
      undefined,
    ])
  })

  test('a pod whose sidecar is not started is pending until a regular container is in the sandbox', () => {
    const spec = { initContainers: [createContainer({ name: 's', restartPolicy: 'Always' })] }
    const phase = (sandboxId: string, ready: boolean) =>
      computePodStatus(
        createSpecInput(spec, {
          observed: createObservedPod({
            sandboxes: [sandbox({ ready })],
            containers: [instance({ state: 'exited', exitCode: 1, sandboxId }), instance({ name: 's' })],
          }),
          started: new Map([['s-0', false]]),
        }),
      ).phase
    assert.deepEqual([phase('s0', true), phase('old', true), phase('s0', false)], ['Running', 'Pending', 'Pending'])
  })
})
