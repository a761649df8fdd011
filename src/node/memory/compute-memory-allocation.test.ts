import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import {
  createMemoryPod,
  createTestMemory,
  showFree,
  showMemoryTable,
  toMemoryTable,
} from '../../../test/builders/create-memory-policy.ts'
import { showHints, toNodes } from '../../../test/builders/placement-hints.ts'
import type { PlacementAffinity } from '../placement/hint-provider.ts'
import { computeMemoryAllocation } from './compute-memory-allocation.ts'
import { computeContainerMemoryHints, computePodMemoryHints } from './compute-pod-memory-hints.ts'
import { toMachineMemory } from './memory-state.ts'
import type { MemoryAssignmentTable, MemoryPolicy } from './memory-state.ts'

const TWO = createTestMemory([10, 10])
const FOUR = createTestMemory([10, 10, 10, 10])
const PAGES = createTestMemory([10, 10], [1])

interface HintRow {
  readonly name: string
  readonly policy?: MemoryPolicy
  readonly pod: string
  /** Whose hints; those of the whole pod when not said. */
  readonly container?: string
  readonly taken?: string
  readonly expected: string
}

const hintRows: readonly HintRow[] = [
  { name: 'what fits on each node', pod: 'main:4', container: 'main', expected: '0! 1! 0,1' },
  { name: 'what fits on none', pod: 'main:11', container: 'main', expected: '0,1!' },
  { name: 'what does not fit at all', pod: 'main:21', container: 'main', expected: '' },
  { name: 'a node that has too little left', pod: 'main:4', container: 'main', taken: 'a: x=0:8', expected: '1!' },
  {
    name: 'nodes that give alone do not give together',
    pod: 'main:11',
    container: 'main',
    taken: 'a: x=0:1',
    expected: '',
  },
  {
    name: 'nodes that give together do not give alone',
    pod: 'main:4',
    container: 'main',
    taken: 'a: x=0,1:11',
    expected: '0,1',
  },
  {
    name: 'or in other company',
    policy: FOUR,
    pod: 'main:12',
    container: 'main',
    taken: 'a: x=0,1:16',
    expected: '2,3!',
  },
  {
    name: 'in the same company',
    policy: FOUR,
    pod: 'main:12',
    container: 'main',
    taken: 'a: x=0,1:4',
    expected: '0,1! 2,3!',
  },
  {
    name: 'huge pages and memory from the same nodes',
    policy: PAGES,
    pod: 'main:4+1',
    container: 'main',
    expected: '1! 0,1',
  },
  {
    name: 'what it has, and nothing else',
    pod: 'main:4',
    container: 'main',
    taken: 'pod: main=1:4',
    expected: '1!',
  },
  {
    name: 'what the init container had',
    pod: 'init:8 main:8',
    container: 'main',
    taken: 'pod: init=1:8 a: x=0:3',
    expected: '1!',
  },
  {
    name: 'not what the sidecar has',
    pod: 'side:8 main:8',
    container: 'main',
    taken: 'pod: side=1:8 a: x=0:3',
    expected: '',
  },
  { name: 'a pod: all its containers together', pod: 'a:4 b:4', taken: 'x: x=0:4', expected: '1!' },
  { name: 'a pod: no more than at one time', pod: 'init:6 a:6', taken: 'x: x=0:4', expected: '0! 1!' },
]

describe('hints for memory', () => {
  for (const { name, policy = TWO, pod: text, container, taken = '', expected } of hintRows) {
    test(name, () => {
      const pod = createMemoryPod('pod', text)
      const assignments = toMemoryTable(taken)
      const situation = { assignments, machine: toMachineMemory(policy, assignments), podLevel: 'off' as const }
      const found = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find((each) => each.name === container)
      const hints =
        found === undefined ? computePodMemoryHints(pod, situation) : computeContainerMemoryHints(pod, found, situation)
      assert.equal(showHints(hints.get('memory')), expected)
      for (const list of hints.values()) assert.equal(showHints(list), expected)
    })
  }

  test('a pod that is not Guaranteed has no hints', () => {
    const pod = createMemoryPod('pod', 'main:1')
    const [container] = pod.spec.containers
    assert.ok(container)
    const burstable = {
      ...pod,
      spec: { ...pod.spec, containers: [{ ...container, resources: { requests: { memory: '1Gi' } } }] },
    }
    const situation = { assignments: new Map(), machine: toMachineMemory(TWO, new Map()), podLevel: 'off' as const }
    assert.equal(computePodMemoryHints(burstable, situation).size, 0)
  })
})

const ANYWHERE: PlacementAffinity = { nodes: undefined, preferred: false }

/** What a pod gets: the table then, or why not. */
function give(policy: MemoryPolicy, text: string, taken = '', affinity = ANYWHERE): string {
  const pod = createMemoryPod('pod', text)
  let assignments: MemoryAssignmentTable = toMemoryTable(taken)
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const machine = toMachineMemory(policy, assignments)
    const allocation = computeMemoryAllocation(pod, container, { machine, assignments, podLevel: 'off', affinity })
    if (allocation.kind === 'rejected') return allocation.rejection.message
    if (allocation.kind === 'given') ({ assignments } = allocation)
  }
  return showMemoryTable(assignments)
}

describe('computeMemoryAllocation()', () => {
  const rows: readonly (readonly [name: string, actual: string, expected: string])[] = [
    ['from the lowest node', give(TWO, 'main:4'), 'pod: main=0:4'],
    ['from the first that has it', give(TWO, 'main:4', 'a: x=0:8'), 'a: x=0:8 pod: main=1:4'],
    ['from as few as have it', give(FOUR, 'main:12'), 'pod: main=0,1:12'],
    ['each kind', give(PAGES, 'main:4+1'), 'pod: main=hugepages-2Mi@1:1+1:4'],
    ['what it has', give(TWO, 'main:4', 'pod: main=1:4'), 'pod: main=1:4'],
    ['each container its own', give(TWO, 'a:6 b:6'), 'pod: a=0:6 b=1:6'],
    ['again what init containers had', give(TWO, 'init:6 main:4'), 'pod: init=0:2 main=0:4'],
    ['more than they had', give(TWO, 'init:2 main:6'), 'pod: init=0:0 main=0:6'],
    ['the first of two init containers', give(TWO, 'init1:6 init2:1 a:3 b:1'), 'pod: init1=0:1 init2=0:1 a=0:3 b=0:1'],
    ['nothing of a sidecar', give(TWO, 'side:6 main:4'), 'pod: side=0:6 main=0:4'],
    [
      'from the nodes that are wanted',
      give(TWO, 'main:4', '', { nodes: toNodes('1'), preferred: true }),
      'pod: main=1:4',
    ],
    [
      'from more nodes than are wanted when they have too little',
      give(TWO, 'main:12', '', { nodes: toNodes('1'), preferred: false }),
      'pod: main=0,1:12',
    ],
    [
      'with the nodes that give together with the one that is wanted',
      give(FOUR, 'main:4', 'a: x=1,2:12', { nodes: toNodes('1'), preferred: false }),
      'a: x=1,2:12 pod: main=1,2:4',
    ],
    [
      'not when all agreed on less',
      give(FOUR, 'main:4', 'a: x=1,2:12', { nodes: toNodes('1'), preferred: true }),
      'Allocate failed due to no NUMA nodes with enough memory together with 1: requested memory=4294967296, which is unexpected',
    ],
    [
      'not what no node has',
      give(TWO, 'main:8', 'a: x=0:4 b: x=1:4'),
      'Allocate failed due to no NUMA nodes with enough memory: requested memory=8589934592, which is unexpected',
    ],
  ]
  for (const [name, actual, expected] of rows) test(name, () => assert.equal(actual, expected))

  test('takes from the lowest node of a group first', () => {
    const machine = toMachineMemory(FOUR, toMemoryTable('a: x=1,2:12 b: x=1,2:4 c: x=0:3'))
    assert.equal(showFree(machine), '0:7/10 1:0/10 2:4/10 3:10/10')
    assert.deepEqual(
      [...machine].map(([, { group }]) => [...group].join(',')),
      ['0', '1,2', '1,2', '3'],
    )
    assert.deepEqual(
      [...machine].map(([, { assignments }]) => assignments),
      [1, 2, 2, 0],
    )
  })

  test('never gives more than there is, nor a node in two companies, whatever pods come and go', () => {
    const step = fc.record({
      uid: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      pod: fc.constantFrom('main:3', 'main:12', 'init:9 main:2', 'side:2 main:5', 'a:4 b:4', 'main:25'),
      nodes: fc.constantFrom(undefined, '0', '1', '2,3', '0,1,2,3'),
      leaves: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        let assignments: MemoryAssignmentTable = new Map()
        for (const { uid, pod: text, nodes, leaves } of steps) {
          const pod = createMemoryPod(uid, text)
          if (leaves) assignments = new Map([...assignments].filter(([other]) => other !== uid))
          else if (!assignments.has(pod.metadata.uid)) assignments = giveAll(pod, assignments, nodes)
          const machine = toMachineMemory(FOUR, assignments)
          const blocks = [...assignments.values()].flatMap((containers) => [...containers.values()].flat())
          const reserved = [...machine.values()].reduce(
            (sum, node) => sum + (node.kinds.get('memory')?.reserved ?? 0n),
            0n,
          )
          assert.equal(
            reserved,
            blocks.reduce((sum, { size }) => sum + size, 0n),
          )
          for (const block of blocks)
            for (const node of block.nodes)
              assert.equal(machine.get(node)?.group.symmetricDifference(block.nodes).size, 0)
        }
      }),
    )
  })
})

/** All of it, or nothing. */
function giveAll(pod: ReturnType<typeof createMemoryPod>, before: MemoryAssignmentTable, nodes: string | undefined) {
  let assignments = before
  const affinity = { nodes: nodes === undefined ? undefined : toNodes(nodes), preferred: false }
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const situation = { machine: toMachineMemory(FOUR, assignments), assignments, podLevel: 'off' as const, affinity }
    const allocation = computeMemoryAllocation(pod, container, situation)
    if (allocation.kind === 'rejected') return before
    if (allocation.kind === 'given') ({ assignments } = allocation)
  }
  return assignments
}
