import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDividedPod } from '../../../../test/builders/create-divided-pod.ts'
import { createTestPolicy, showCpuState, toTable } from '../../../../test/builders/create-cpu-policy.ts'
import { MACHINES } from '../../../../test/builders/cpu-machines.ts'
import { showHints } from '../../../../test/builders/placement-hints.ts'
import { computePodCpuHints } from './compute-cpu-hints.ts'
import { computeWholePodCpus } from './compute-whole-pod-cpus.ts'
import type { CpuPolicyOptions } from '../cpu-policy.ts'
import { toCpuState } from '../cpu-state.ts'

interface Row {
  readonly name: string
  /** CPUs of the pod, and of those containers that have a limit of their own. */
  readonly pod: readonly [cpu: string, containers: string]
  readonly options?: Partial<CpuPolicyOptions>
  readonly taken?: Readonly<Record<string, string>>
  /** What the pod has when the agent finds it. */
  readonly had?: Readonly<Record<string, string>>
  /** What is shared by all pods, and what each container has; the pod itself has no name. */
  readonly expected: string
}

const rows: readonly Row[] = [
  { name: 'all for the only container', pod: ['2', 'main:2'], expected: '0,2-4,6-7 p.=1,5 p.main=1,5' },
  { name: 'all containers share', pod: ['2', 'a b'], expected: '0,2-4,6-7 p.=1,5 p.a=1,5 p.b=1,5' },
  {
    name: 'some share what others leave',
    pod: ['4', 'a:2 b c'],
    expected: '0,3-4,7 p.=1-2,5-6 p.a=1,5 p.b=2,6 p.c=2,6',
  },
  { name: 'what no container asks for stays the pod’s', pod: ['4', 'a:2'], expected: '0,3-4,7 p.=1-2,5-6 p.a=1,5' },
  {
    name: 'init containers have all of it before the others',
    pod: ['4', 'init1:2 init2 a:2 b'],
    expected: '0,3-4,7 p.=1-2,5-6 p.init1=1,5 p.init2=1-2,5-6 p.a=1,5 p.b=2,6',
  },
  {
    name: 'sidecars keep theirs',
    pod: ['4', 'init1 side1:2 init2 side2 a:1 b'],
    expected: '0,3-4,7 p.=1-2,5-6 p.init1=1-2,5-6 p.side1=1,5 p.init2=2,6 p.a=2 p.side2=6 p.b=6',
  },
  { name: 'a part of a CPU is shared by all pods', pod: ['2500m', 'a:2 b'], expected: '0-7' },
  {
    name: 'nothing left for those that share',
    pod: ['2', 'a:2 b'],
    expected:
      'EmptyPodSharedPoolError pod rejected, sum of exclusive container cpu requests equals pod budget, leaving no cpus for shared containers',
  },
  {
    name: 'nothing left for a sidecar that shares',
    pod: ['2', 'side a:2'],
    expected:
      'EmptyPodSharedPoolError pod rejected, sum of exclusive container cpu requests equals pod budget, leaving no cpus for shared containers',
  },
  {
    name: 'nothing left for an init container beside sidecars',
    pod: ['2', 'side:2 init'],
    expected: 'EmptyPodSharedPoolError pod rejected, pod has shared init containers but no cpus available for them',
  },
  {
    name: 'an init container before a sidecar that takes all',
    pod: ['2', 'init side:2'],
    expected: '0,2-4,6-7 p.=1,5 p.init=1,5 p.side=1,5',
  },
  {
    name: 'more than there is',
    pod: ['4', 'a:2 b'],
    taken: { main: '1-2,5-6' },
    expected:
      'UnexpectedAdmissionError Allocate failed due to not enough cpus available to satisfy request: requested=4, available=3, which is unexpected',
  },
  {
    name: 'half a core, where only whole ones are given',
    pod: ['3', 'a:2 b'],
    options: { fullCoresOnly: true },
    expected: 'SMTAlignmentError SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2',
  },
  {
    name: 'what it has stays as it is',
    pod: ['4', 'a:2 b'],
    had: { '': '2-3,6-7', a: '3,7', b: '2,6' },
    expected: '0-1,4-5 p.=2-3,6-7 p.a=3,7 p.b=2,6',
  },
  {
    name: 'what its containers run on stays, when the record is lost',
    pod: ['4', 'a:2 b'],
    had: { a: '3,7' },
    expected: '0,2,4,6 p.=1,3,5,7 p.a=3,7 p.b=1,5',
  },
  {
    name: 'what another pod has now is replaced',
    pod: ['2', 'a:2'],
    taken: { main: '3' },
    had: { '': '3,7', a: '3,7' },
    expected: '0,2,4,6-7 x.main=3 p.=1,5 p.a=1,5',
  },
]

describe('computeWholePodCpus()', () => {
  for (const { name, pod: text, options, taken, had = {}, expected } of rows) {
    test(name, () => {
      const policy = createTestPolicy(MACHINES['one socket'], '0', { podLevel: 'pod', ...options })
      const state = toCpuState(policy, toTable(taken === undefined ? {} : { x: taken }))
      const pod = createDividedPod('p', { cpu: text[0], containers: text[1] })
      const found = toTable({ p: had }).get(pod.metadata.uid) ?? new Map()
      const situation = { policy, state, held: new Set<number>() }
      const allocation = computeWholePodCpus(pod, situation, { nodes: undefined, had: found })
      const shown =
        allocation.kind === 'given'
          ? showCpuState(allocation.state)
          : `${allocation.rejection.reason} ${allocation.rejection.message}`
      assert.equal(shown, expected)
    })
  }

  test('takes from the nodes that placement chose', () => {
    const policy = createTestPolicy(MACHINES['two sockets'], '0', { podLevel: 'pod' })
    const situation = { policy, state: toCpuState(policy, new Map()), held: new Set<number>() }
    const pod = createDividedPod('p', { cpu: '2', containers: 'a:1 b' })
    const allocation = computeWholePodCpus(pod, situation, { nodes: new Set([1]), had: new Map() })
    const places = policy.topology.filter(({ cpu }) => allocation.given[0]?.has(cpu) === true)
    assert.deepEqual(
      places.map(({ numaNode }) => numaNode),
      [1, 1],
    )
  })
})

describe('hints for a pod as a whole', () => {
  const policy = createTestPolicy(MACHINES['two sockets'], '0', { podLevel: 'pod' })
  const situation = { policy, state: toCpuState(policy, new Map()), held: new Set<number>() }
  for (const [name, cpu, containers, expected] of [
    ['are for its own CPUs', '2', 'a', '0! 1! 0,1'],
    ['are for its own CPUs, not for those of its containers', '2', 'a:1 b', '0! 1! 0,1'],
    ['are none when a part of a CPU is asked for', '2500m', 'a:2 b', undefined],
    ['are empty when nothing is left for those that share', '2', 'a:2 b', ''],
  ] as const) {
    test(name, () => {
      const hints = computePodCpuHints(createDividedPod('p', { cpu, containers }), situation).get('cpu')
      assert.equal(hints && showHints(hints), expected)
    })
  }
})
