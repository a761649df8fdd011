import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { arbitraryObservedPod, arbitraryPod } from '../../../test/builders/arbitrary-pod.ts'
import { createStatusInput, STATUS_NOW } from '../../../test/builders/create-status-input.ts'
import type { ContainerStatus, PodStatus } from '../../model/generated/core-v1.ts'
import type { ObservedPod } from '../../model/pod/observed-pod.ts'
import { computePodStatus } from './compute-pod-status.ts'

const anyPod = arbitraryPod({ ownPolicies: true, deleted: true })
const anyObserved = arbitraryObservedPod({ states: ['created', 'running', 'exited', 'unknown'], changed: true })
const anyWaiting = fc
  .subarray(['i0', 'i1', 'i2', 'r0', 'r1'])
  .map((names) => new Map(names.map((name) => [name, { reason: 'CrashLoopBackOff', message: 'wait' }])))
const anyStarted = fc
  .dictionary(fc.constantFrom('i0-0', 'i1-0', 'r0-0', 'r1-1'), fc.boolean())
  .map((answers) => new Map(Object.entries(answers)))
/** What is seen one after the other; the pod ends with the last. */
const anyStory = fc.array(fc.record({ observed: anyObserved, waiting: anyWaiting, started: anyStarted }), {
  minLength: 1,
  maxLength: 6,
})

const allOf = (status: PodStatus): readonly ContainerStatus[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
]

/** Plays the story and checks each status together with the one before. */
function follow(check: (status: PodStatus, before: PodStatus | undefined, observed: ObservedPod) => void): void {
  fc.assert(
    fc.property(anyPod, anyStory, (pod, story) => {
      let previous: PodStatus | undefined
      for (const [index, seen] of story.entries()) {
        const now = STATUS_NOW + index * 1000
        const ended = index === story.length - 1
        const status = computePodStatus(createStatusInput({ ...seen, pod, previous, now, ended }))
        check(status, previous, seen.observed)
        previous = status
      }
    }),
    { numRuns: 300 },
  )
}

describe('computePodStatus() for any pod and any story', () => {
  test('reports one state of each container, one phase and all conditions', () => {
    follow((status) => {
      for (const { state } of allOf(status)) assert.equal(Object.keys(state ?? {}).length, 1)
      assert.match(status.phase ?? '', /^(?:Pending|Running|Succeeded|Failed)$/)
      const types = status.conditions?.map(({ type }) => type)
      const all = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']
      assert.deepEqual(types?.slice(0, all.length), all)
      assert.match(types?.slice(all.length).join(' ') ?? '', /^(?:AllContainersRestarting)?$/)
    })
  })

  test('never lets a restart count fall', () => {
    follow((status, before) => {
      if (before === undefined) return
      for (const { name, restartCount } of allOf(status)) {
        const old: ContainerStatus | undefined = allOf(before).find((container) => container.name === name)
        assert.ok(restartCount >= (old?.restartCount ?? 0), `${name}: ${old?.restartCount} to ${restartCount}`)
      }
    })
  })

  test('never leaves the end of a pod', () => {
    follow((status, before) => {
      if (before?.phase === 'Succeeded' || before?.phase === 'Failed') assert.equal(status.phase, before.phase)
    })
  })

  test('moves a transition time with the status and never without', () => {
    follow((status, before) => {
      for (const condition of status.conditions ?? []) {
        const old = before?.conditions?.find(({ type }) => type === condition.type)
        if (old === undefined) continue
        const moved = old.lastTransitionTime !== condition.lastTransitionTime
        assert.equal(moved, old.status !== condition.status, condition.type)
      }
    })
  })

  test('never counts a container as ready that does not run', () => {
    follow((status) => {
      for (const { ready, state } of status.containerStatuses ?? [])
        if (ready) assert.notEqual(state?.running, undefined)
    })
  })

  test('says the same when it is computed again from the same', () => {
    fc.assert(
      fc.property(anyPod, anyObserved, (pod, observed) => {
        const first = computePodStatus(createStatusInput({ pod, observed }))
        const second = computePodStatus(createStatusInput({ pod, observed, previous: first, now: STATUS_NOW + 5000 }))
        assert.deepEqual(second, first)
      }),
    )
  })
})
