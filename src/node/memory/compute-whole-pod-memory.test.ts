import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDividedPod } from '../../../test/builders/create-divided-pod.ts'
import {
  createTestMemory,
  showFree,
  showMemoryTable,
  toMemoryTable,
} from '../../../test/builders/create-memory-policy.ts'
import { showHints, toNodes } from '../../../test/builders/placement-hints.ts'
import { computePodMemoryHints } from './compute-pod-memory-hints.ts'
import { computeWholePodMemory } from './compute-whole-pod-memory.ts'
import { toMachineMemory } from './memory-state.ts'

const TWO = createTestMemory([10, 10])

interface Row {
  readonly name: string
  /** GiB of the pod, and of those containers that have a limit of their own. */
  readonly pod: readonly [memory: string, containers: string]
  readonly taken?: string
  readonly nodes?: string
  readonly expected: string
  readonly free?: string
}

const rows: readonly Row[] = [
  {
    name: 'all for the only container',
    pod: ['4', 'main:4'],
    expected: 'p: =0:4 main=0:4',
    free: '0:6/10 1:10/10',
  },
  {
    name: 'some share what others leave',
    pod: ['8', 'a:2 b c'],
    expected: 'p: =0:8 a=0:2 b=0:6 c=0:6',
    free: '0:2/10 1:10/10',
  },
  {
    name: 'init containers have all of it before the others, sidecars keep theirs',
    pod: ['8', 'init1 side:2 init2 a:1 b'],
    expected: 'p: =0:8 init1=0:8 side=0:2 init2=0:6 a=0:1 b=0:5',
    free: '0:2/10 1:10/10',
  },
  { name: 'from the nodes that placement chose', pod: ['4', 'a b'], nodes: '1', expected: 'p: =1:4 a=1:4 b=1:4' },
  {
    name: 'from more nodes where one is too small',
    pod: ['12', 'a:4 b'],
    expected: 'p: =0,1:12 a=0,1:4 b=0,1:8',
    free: '0:0/10 1:8/10',
  },
  {
    name: 'nothing left for those that share',
    pod: ['4', 'a:4 b'],
    expected:
      'EmptyPodSharedPoolError pod rejected, sum of exclusive container memory requests equals pod budget, leaving no memory for shared containers',
  },
  {
    name: 'nothing left for an init container beside sidecars',
    pod: ['4', 'side:4 init'],
    expected: 'EmptyPodSharedPoolError pod rejected, pod has shared init containers but no memory available for them',
  },
  {
    name: 'more than there is',
    pod: ['8', 'a'],
    taken: 'x: x=0:4 y: y=1:4',
    expected:
      'UnexpectedAdmissionError Allocate failed due to no NUMA nodes with enough memory: requested memory=8589934592, which is unexpected',
  },
]

describe('computeWholePodMemory()', () => {
  for (const { name, pod: text, taken = '', nodes, expected, free } of rows) {
    test(name, () => {
      const assignments = toMemoryTable(taken)
      const allocation = computeWholePodMemory(createDividedPod('p', { memory: text[0], containers: text[1] }), {
        machine: toMachineMemory(TWO, assignments),
        assignments,
        podLevel: 'pod',
        affinity: { nodes: nodes === undefined ? undefined : toNodes(nodes), preferred: false },
      })
      if (allocation.kind === 'given') {
        assert.equal(showMemoryTable(allocation.assignments), expected)
        // What containers share is counted once.
        if (free !== undefined) assert.equal(showFree(toMachineMemory(TWO, allocation.assignments)), free)
      } else {
        assert.equal(allocation.kind, 'rejected')
        assert.equal(
          allocation.kind === 'rejected' && `${allocation.rejection.reason} ${allocation.rejection.message}`,
          expected,
        )
      }
    })
  }
})

describe('hints for the memory of a pod as a whole', () => {
  const situation = { assignments: new Map(), machine: toMachineMemory(TWO, new Map()), podLevel: 'pod' as const }
  for (const [name, memory, containers, expected] of [
    ['are for its own memory', '12', 'a:1 b', '0,1!'],
    ['are empty when nothing is left for those that share', '4', 'a:4 b', ''],
  ] as const) {
    test(name, () => {
      const hints = computePodMemoryHints(createDividedPod('p', { memory, containers }), situation).get('memory')
      assert.equal(hints && showHints(hints), expected)
    })
  }
})
