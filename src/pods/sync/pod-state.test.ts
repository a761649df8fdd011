import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeTermination } from './pod-state.ts'
import type { PodState } from './pod-state.ts'

const terminating = (graceSeconds: number | undefined): PodState => ({
  kind: 'terminating',
  cause: 'deleted',
  graceSeconds,
})

interface Row {
  readonly before: PodState
  readonly graceSeconds?: number
  readonly after: PodState
}

const rows: Readonly<Record<string, Row>> = {
  'a pod that never started is gone at once': { before: { kind: 'waiting' }, after: { kind: 'gone' } },
  'a living pod ends with the grace that is asked for': {
    before: { kind: 'syncing' },
    graceSeconds: 5,
    after: { kind: 'terminating', cause: 'removed', graceSeconds: 5 },
  },
  'a living pod ends with its own grace when none is asked for': {
    before: { kind: 'syncing' },
    after: { kind: 'terminating', cause: 'removed', graceSeconds: undefined },
  },
  'a shorter grace replaces a longer one': { before: terminating(30), graceSeconds: 5, after: terminating(5) },
  'a grace of nothing replaces any': { before: terminating(30), graceSeconds: 0, after: terminating(0) },
  'a longer grace changes nothing': { before: terminating(5), graceSeconds: 30, after: terminating(5) },
  'an equal grace changes nothing': { before: terminating(5), graceSeconds: 5, after: terminating(5) },
  'no grace changes nothing': { before: terminating(5), after: terminating(5) },
  'a grace replaces the own one of the pod': { before: terminating(undefined), graceSeconds: 9, after: terminating(9) },
  'an ended pod stays so': {
    before: { kind: 'terminated', at: 7 },
    graceSeconds: 1,
    after: { kind: 'terminated', at: 7 },
  },
  'a gone pod stays so': { before: { kind: 'gone' }, graceSeconds: 1, after: { kind: 'gone' } },
}

describe('computeTermination()', () => {
  for (const [name, { before, graceSeconds, after }] of Object.entries(rows)) {
    test(name, () => assert.deepEqual(computeTermination(before, { cause: 'removed', graceSeconds }), after))
  }
})
