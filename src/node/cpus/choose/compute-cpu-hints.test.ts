import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createPinnedPod, createTestPolicy, toTable } from '../../../../test/builders/create-cpu-policy.ts'
import { MACHINES } from '../../../../test/builders/cpu-machines.ts'
import { showHints, toNodes } from '../../../../test/builders/placement-hints.ts'
import { formatCpuSet, parseCpuSet } from '../../../model/resources/cpu-set.ts'
import { computeContainerCpus, computeUsableCpus } from '../compute-container-cpus.ts'
import { computeContainerCpuHints, computePodCpuHints } from './compute-cpu-hints.ts'
import type { CpuPolicy } from '../cpu-policy.ts'
import { toCpuState } from '../cpu-state.ts'

/** Nodes 0 (CPUs 0,2,4,6,8,10) and 1 (the odd ones), two threads each; CPU 0 is reserved. */
const TWO = createTestPolicy(MACHINES['two sockets'], '0')
/** Nodes 0 and 1 in one socket, 2 and 3 in another, 20 CPUs each. */
const FOUR = createTestPolicy(MACHINES['four NUMA nodes'], '0')

interface Row {
  readonly name: string
  readonly policy: CpuPolicy
  readonly pod: string
  /** Whose hints; those of the whole pod when not said. */
  readonly container?: string
  readonly taken?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly held?: string
  readonly expected: string
}

const rows: readonly Row[] = [
  { name: 'what fits on each node', policy: TWO, pod: 'main:2', container: 'main', expected: '0! 1! 0,1' },
  { name: 'what fits on one', policy: TWO, pod: 'main:6', container: 'main', expected: '1! 0,1' },
  { name: 'what fits on none', policy: TWO, pod: 'main:7', container: 'main', expected: '0,1!' },
  { name: 'what does not fit at all', policy: TWO, pod: 'main:12', container: 'main', expected: '' },
  {
    name: 'what one node could give if all of it were free',
    policy: TWO,
    pod: 'main:4',
    container: 'main',
    taken: { other: { main: '1,3,5' }, another: { main: '2,4' } },
    expected: '0,1',
  },
  { name: 'CPUs that are held', policy: TWO, pod: 'main:2', container: 'main', held: '2,4,6,8', expected: '1! 0,1' },
  {
    name: 'what it has, and nothing else',
    policy: TWO,
    pod: 'main:2',
    container: 'main',
    taken: { pod: { main: '3,9' } },
    expected: '1! 0,1',
  },
  {
    name: 'nowhere, when it has another number than it needs',
    policy: TWO,
    pod: 'main:2',
    container: 'main',
    taken: { pod: { main: '3' } },
    expected: '',
  },
  {
    name: 'where the init container was',
    policy: TWO,
    pod: 'init:2 main:3',
    container: 'main',
    taken: { pod: { init: '3,9' } },
    expected: '1! 0,1',
  },
  {
    name: 'anywhere beside a sidecar',
    policy: TWO,
    pod: 'side:2 main:3',
    container: 'main',
    taken: { pod: { side: '3,9' } },
    expected: '0! 1! 0,1',
  },
  { name: 'a pod: all its containers together', policy: TWO, pod: 'a:3 b:3', expected: '1! 0,1' },
  { name: 'a pod: no more than is needed at one time', policy: TWO, pod: 'init:3 a:3', expected: '0! 1! 0,1' },
  {
    name: 'a pod: an init container runs with the sidecars before it',
    policy: TWO,
    pod: 'side:3 init:3 a:1',
    expected: '1! 0,1',
  },
  { name: 'a pod that has what it needs', policy: TWO, pod: 'a:2', taken: { pod: { a: '3,9' } }, expected: '1! 0,1' },
  {
    name: 'whole cores only',
    policy: createTestPolicy(MACHINES['two sockets'], '0', { fullCoresOnly: true }),
    pod: 'main:6',
    container: 'main',
    expected: '1! 0,1',
  },
  {
    name: 'four nodes',
    policy: FOUR,
    pod: 'main:30',
    container: 'main',
    expected: '0,1! 0,2! 1,2! 0,3! 1,3! 2,3! 0,1,2 0,1,3 0,2,3 1,2,3 0,1,2,3',
  },
  {
    name: 'nodes in as few sockets',
    policy: { ...FOUR, options: { ...FOUR.options, alignBySocket: true } },
    pod: 'main:10',
    container: 'main',
    expected: '0! 1! 2! 3! 0,1! 0,2 1,2 0,3 1,3 2,3! 0,1,2 0,1,3 0,2,3 1,2,3 0,1,2,3',
  },
]

describe('hints for CPUs', () => {
  for (const { name, policy, pod: text, container, taken = {}, held = '', expected } of rows) {
    test(name, () => {
      const pod = createPinnedPod('pod', text)
      const situation = { policy, state: toCpuState(policy, toTable(taken)), held: new Set(parseCpuSet(held)) }
      const found = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find((each) => each.name === container)
      const hints =
        found === undefined ? computePodCpuHints(pod, situation) : computeContainerCpuHints(pod, found, situation)
      assert.deepEqual([[...hints.keys()], showHints(hints.get('cpu'))], [['cpu'], expected])
    })
  }

  test('a container that shares its CPUs has no hints', () => {
    const situation = { policy: TWO, state: toCpuState(TWO, new Map()), held: new Set<number>() }
    const pod = createPinnedPod('pod', 'main:1500m')
    const [container] = pod.spec.containers
    assert.ok(container)
    assert.equal(computeContainerCpuHints(pod, container, situation).size, 0)
    assert.equal(computePodCpuHints(pod, situation).size, 0)
  })
})

describe('CPUs from certain nodes', () => {
  const choose = (policy: CpuPolicy, count: number, nodes: string, held = '') => {
    const pod = createPinnedPod('pod', `main:${count}`)
    const [container] = pod.spec.containers
    assert.ok(container)
    const situation = { policy, state: toCpuState(policy, new Map()), held: new Set(parseCpuSet(held)) }
    const choice = computeContainerCpus(policy, computeUsableCpus(pod, container, situation), toNodes(nodes))
    return 'cpus' in choice ? formatCpuSet(choice.cpus) : choice.rejection.reason
  }

  test('come from there', () => assert.equal(choose(TWO, 2, '1'), '1,7'))
  test('come from elsewhere too when there are too few', () => assert.equal(choose(TWO, 6, '0'), '1-2,4,6,8,10'))
  test('are rejected when there are too few at all', () =>
    assert.equal(choose(TWO, 12, '0'), 'UnexpectedAdmissionError'))
  test('come from the socket, where that is as good', () => {
    // Of node 1 there is one core left.
    const held = '1-18,40-58'
    assert.equal(choose(FOUR, 22, '2', held), '19-29,59-69')
    const bySocket = { ...FOUR, options: { ...FOUR.options, alignBySocket: true } }
    assert.equal(choose(bySocket, 22, '2', held), '20-30,60-70')
  })

  test('can always be had from a hint, all of them', () => {
    const policies = fc.constantFrom(TWO, createTestPolicy(MACHINES['two sockets'], '0', { fullCoresOnly: true }), FOUR)
    const counts = fc.integer({ min: 1, max: 12 })
    fc.assert(
      fc.property(policies, counts, fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), (policy, count, taken) => {
        const pod = createPinnedPod('pod', `main:${count}`)
        const [container] = pod.spec.containers
        assert.ok(container)
        const state = toCpuState(policy, toTable({ other: { main: formatCpuSet(taken) } }))
        const situation = { policy, state, held: new Set<number>() }
        const usable = computeUsableCpus(pod, container, situation)
        for (const { nodes } of computeContainerCpuHints(pod, container, situation).get('cpu') ?? []) {
          const choice = computeContainerCpus(policy, usable, nodes)
          if (!('cpus' in choice)) assert.equal(choice.rejection.reason, 'SMTAlignmentError')
          else {
            const places = policy.topology.filter(({ cpu }) => choice.cpus.has(cpu))
            assert.equal(places.length, count)
            assert.ok(places.every(({ numaNode }) => nodes.has(numaNode)))
          }
        }
      }),
    )
  })
})
