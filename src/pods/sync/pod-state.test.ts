import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  computeDrop,
  computeProgress,
  computeReplacement,
  computeTermination,
  hasCleanedUp,
  hasDropped,
  hasStopped,
  hasUnmounted,
  isDesired,
  runsAgain,
  terminatedAt,
} from './pod-state.ts'
import type { PodState, TerminatedState, TerminationRequest } from './pod-state.ts'

const waiting: PodState = { kind: 'waiting' }
const syncing: PodState = { kind: 'syncing' }
const gone: PodState = { kind: 'gone' }
type After = TerminatedState['after']
const terminating = (graceSeconds: number | undefined, after: After = 'keep'): PodState => ({
  kind: 'terminating',
  cause: 'deleted',
  graceSeconds,
  after,
})

interface Row {
  readonly before: PodState
  readonly graceSeconds?: number
  readonly request?: Partial<TerminationRequest>
  readonly after: PodState
}

const rows: Readonly<Record<string, Row>> = {
  'a pod that never started is gone at once': { before: waiting, after: gone },
  'a living pod ends with the grace that is asked for': {
    before: syncing,
    graceSeconds: 5,
    after: { kind: 'terminating', cause: 'removed', graceSeconds: 5, after: 'remove' },
  },
  'a living pod ends with its own grace when none is asked for': {
    before: syncing,
    after: { kind: 'terminating', cause: 'removed', graceSeconds: undefined, after: 'remove' },
  },
  'a shorter grace replaces a longer one': {
    before: terminating(30),
    graceSeconds: 5,
    after: terminating(5, 'remove'),
  },
  'a grace of nothing replaces any': { before: terminating(30), graceSeconds: 0, after: terminating(0, 'remove') },
  'a longer grace changes nothing': { before: terminating(5), graceSeconds: 30, after: terminating(5, 'remove') },
  'an equal grace changes nothing': { before: terminating(5), graceSeconds: 5, after: terminating(5, 'remove') },
  'no grace changes nothing': { before: terminating(5), after: terminating(5, 'remove') },
  'a grace replaces the own one of the pod': {
    before: terminating(undefined),
    graceSeconds: 9,
    after: terminating(9, 'remove'),
  },
  'an ended pod stays so, and is removed': {
    before: terminatedAt(7, 'keep'),
    graceSeconds: 1,
    after: terminatedAt(7, 'remove'),
  },
  'a gone pod stays so': { before: gone, graceSeconds: 1, after: gone },
  'a pod that its source still has is kept': {
    before: syncing,
    request: { cause: 'deleted' },
    after: { kind: 'terminating', cause: 'deleted', graceSeconds: undefined, after: 'keep' },
  },
  'an evicted pod is kept': {
    before: syncing,
    request: { cause: 'evicted' },
    after: { kind: 'terminating', cause: 'evicted', graceSeconds: undefined, after: 'keep' },
  },
  'a pod that is evicted for now runs again': {
    before: terminating(5),
    request: { cause: 'evicted', restarts: true },
    after: terminating(5, 'restart'),
  },
  'the newest eviction says whether a pod runs again': {
    before: terminating(5, 'restart'),
    request: { cause: 'evicted' },
    after: terminating(5, 'keep'),
  },
  'any other end leaves it so that a pod runs again': {
    before: terminating(5, 'restart'),
    request: { cause: 'deleted' },
    after: terminating(5, 'restart'),
  },
  'a removed pod never runs again': {
    before: terminating(5, 'remove'),
    request: { cause: 'evicted', restarts: true },
    after: terminating(5, 'remove'),
  },
  'a removed pod still makes way': { before: terminating(5, 'replace'), after: terminating(5, 'replace') },
}

describe('computeTermination()', () => {
  for (const [name, { before, graceSeconds, request, after }] of Object.entries(rows)) {
    test(name, () =>
      assert.deepEqual(computeTermination(before, { cause: 'removed', graceSeconds, ...request }), after),
    )
  }
})

test('only a pod that its source no longer has makes way for another', () => {
  assert.deepEqual(computeReplacement(terminating(5, 'remove')), terminating(5, 'replace'))
  assert.deepEqual(computeReplacement(terminatedAt(7, 'remove')), terminatedAt(7, 'replace'))
  for (const state of [waiting, syncing, terminating(5), terminatedAt(7, 'restart'), gone])
    assert.deepEqual(computeReplacement(state), state)
})

test('only what is left of an ended pod is dropped, and once', () => {
  const dropping: PodState = { ...terminatedAt(7, 'keep'), remains: 'dropping' }
  assert.deepEqual(computeDrop(terminatedAt(7, 'keep')), dropping)
  for (const state of [syncing, terminating(5), dropping, gone]) assert.deepEqual(computeDrop(state), state)
})

describe('computeProgress()', () => {
  const ended = terminatedAt(7, 'keep')
  const cleaned: PodState = { ...ended, progress: 'cleaned' }

  test('follows the clean-up', () => {
    const unmounted: PodState = { ...ended, progress: 'unmounted' }
    assert.deepEqual(computeProgress(ended, { progress: 'unmounted', dropped: false }), unmounted)
    assert.deepEqual(computeProgress(unmounted, { progress: 'cleaned', dropped: false }), cleaned)
    const dropped = { ...cleaned, remains: 'dropped' }
    assert.deepEqual(computeProgress(unmounted, { progress: 'cleaned', dropped: true }), dropped)
  })

  test('does not count what was done already as undone, and does when something runs again', () => {
    assert.deepEqual(computeProgress(cleaned, { progress: 'unmounted', dropped: false }), cleaned)
    assert.deepEqual(computeProgress(cleaned, { progress: 'stopped', dropped: false }), ended)
  })

  test('leaves any other state alone', () => {
    assert.deepEqual(computeProgress(gone, { progress: 'cleaned', dropped: true }), gone)
  })
})

test('what a state says of the pod', () => {
  const says = (state: PodState) =>
    [isDesired, runsAgain, hasStopped, hasUnmounted, hasCleanedUp, hasDropped]
      .filter((ask) => ask(state))
      .map(({ name }) => name)
  assert.deepEqual(says(waiting), ['isDesired'])
  assert.deepEqual(says(syncing), ['isDesired'])
  assert.deepEqual(says(terminating(5)), ['isDesired'])
  assert.deepEqual(says(terminating(5, 'restart')), ['isDesired', 'runsAgain'])
  assert.deepEqual(says(terminating(5, 'remove')), [])
  assert.deepEqual(says(terminatedAt(7, 'replace')), ['hasStopped'])
  assert.deepEqual(says({ ...terminatedAt(7, 'remove'), progress: 'unmounted' }), ['hasStopped', 'hasUnmounted'])
  const kept: PodState = { ...terminatedAt(7, 'keep'), progress: 'cleaned' }
  assert.deepEqual(says(kept), ['isDesired', 'hasStopped', 'hasUnmounted', 'hasCleanedUp'])
  assert.deepEqual(says({ ...kept, remains: 'dropped' }).at(-1), 'hasDropped')
  assert.deepEqual(says(gone), ['hasStopped', 'hasUnmounted', 'hasDropped'])
})
