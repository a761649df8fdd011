import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import {
  createPinnedPod,
  createTestPolicy,
  showCpuState,
  toTable,
} from '../../../../test/builders/create-cpu-policy.ts'
import { MACHINES } from '../../../../test/builders/cpu-machines.ts'
import { formatCpuSet, parseCpuSet } from '../../../model/resources/cpu-set.ts'
import { parsePodUid } from '../../../model/pod/pod.ts'
import { computeCpuAllocation } from './compute-cpu-allocation.ts'
import type { CpuPolicyOptions } from '../cpu-policy.ts'
import { assignedCpus, toCpuState, withoutPod } from '../cpu-state.ts'
import type { CpuState } from '../cpu-state.ts'
import { allCpus, wholeCores } from '../cpu-topology.ts'
import { createCpuPolicy } from '../create-cpu-policy.ts'

interface Row {
  readonly name: string
  readonly containers: string
  readonly table?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly options?: Partial<CpuPolicyOptions>
  readonly held?: string
  /** The state, or reason and message. */
  readonly expected: string
}

const shortage = (requested: number, available: number) =>
  `UnexpectedAdmissionError Allocate failed due to not enough cpus available to satisfy request: requested=${requested}, available=${available}, which is unexpected`

/** On one socket with four cores of two threads each (0 and 4, 1 and 5 …), of which CPU 0 is reserved. */
const rows: readonly Row[] = [
  { name: 'a pod that shares', containers: 'main:500m', expected: '0-7' },
  {
    name: 'a CPU for each container, those of a half used core first',
    containers: 'a:1 b:1',
    expected: '0,2-3,5-7 p.a=4 p.b=1',
  },
  { name: 'a whole core', containers: 'main:2', expected: '0,2-4,6-7 p.main=1,5' },
  { name: 'all there is', containers: 'main:7', expected: '0 p.main=1-7' },
  { name: 'more than there is', containers: 'main:8', expected: shortage(8, 7) },
  { name: 'what others have left', containers: 'main:6', table: { q: { x: '1-2' } }, expected: shortage(6, 5) },
  { name: 'what is held for others', containers: 'main:6', held: '1-2', expected: shortage(6, 5) },
  {
    name: 'the second container gets none: no container gets any',
    containers: 'a:5 b:3',
    expected: shortage(3, 2),
  },
  {
    name: 'what it has it keeps',
    containers: 'a:1 b:1',
    table: { p: { a: '7' }, q: { x: '4' } },
    expected: '0-2,5-6 p.a=7 p.b=3 q.x=4',
  },
  { name: 'what an init container had', containers: 'init:6 main:7', expected: '0 p.init=1-3,5-7 p.main=1-7' },
  {
    name: 'what two init containers had, one after the other',
    containers: 'init-1:2 init-2:2 a:2 b:2',
    expected: '0,3-4,7 p.init-1=1,5 p.init-2=1,5 p.a=1,5 p.b=2,6',
  },
  { name: 'never what a sidecar has', containers: 'side:6 main:2', expected: shortage(2, 1) },
  {
    name: 'a sidecar may have what an init container had before it, and then no other container',
    containers: 'init:2 side:2 main:2',
    expected: '0,3-4,7 p.init=1,5 p.side=1,5 p.main=2,6',
  },
  {
    name: 'an init container that has lost its own gets those of the ones after it',
    containers: 'init:2 main:2',
    table: { p: { main: '3,7' } },
    expected: '0-2,4-6 p.main=3,7 p.init=3,7',
  },
  {
    name: 'whole cores only',
    containers: 'main:6',
    options: { fullCoresOnly: true },
    expected: '0,4 p.main=1-3,5-7',
  },
  {
    name: 'not half a core',
    containers: 'main:3',
    options: { fullCoresOnly: true },
    expected: 'SMTAlignmentError SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2',
  },
  {
    name: 'not the other half of a reserved core',
    containers: 'main:8',
    options: { fullCoresOnly: true },
    expected:
      'SMTAlignmentError SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 6, requested CPUs = 8, CPUs per core = 2',
  },
  {
    name: 'whole cores that an init container had',
    containers: 'init:6 main:6',
    options: { fullCoresOnly: true },
    expected: '0,4 p.init=1-3,5-7 p.main=1-3,5-7',
  },
  {
    name: 'reserved CPUs are given to no container',
    containers: 'main:2',
    options: { strictReservation: true },
    expected: '2-4,6-7 p.main=1,5',
  },
  { name: 'one CPU of each core', containers: 'main:3', options: { acrossCores: true }, expected: '0,4-7 p.main=1-3' },
]

describe('computeCpuAllocation()', () => {
  for (const { name, containers, table = {}, options, held = '', expected } of rows) {
    test(name, () => {
      const policy = createTestPolicy(MACHINES['one socket'], '0', options)
      const state = toCpuState(policy, toTable(table))
      const result = computeCpuAllocation(createPinnedPod('p', containers), {
        policy,
        state,
        held: new Set(parseCpuSet(held)),
      })
      const shown =
        result.kind === 'given' ? showCpuState(result.state) : `${result.rejection.reason} ${result.rejection.message}`
      assert.equal(shown, expected)
    })
  }

  test('whatever comes and goes: nothing overlaps, nothing is lost, the reserved stay, cores stay whole', () => {
    const booleans = fc.boolean()
    const input = fc.record({
      topology: fc.constantFrom(...Object.values(MACHINES)),
      reserved: fc.integer({ min: 1, max: 2 }),
      options: fc.record({ fullCoresOnly: booleans, strictReservation: booleans, acrossNumaNodes: booleans }),
      steps: fc.array(
        fc.record({
          pod: fc.constantFrom('a', 'b', 'c', 'd'),
          goes: booleans,
          init: fc.nat({ max: 4 }),
          side: fc.nat({ max: 2 }),
          main: fc.nat({ max: 8 }),
        }),
        { maxLength: 12 },
      ),
    })
    fc.assert(
      fc.property(input, ({ topology, reserved, options, steps }) => {
        const policy = createCpuPolicy({
          topology,
          options: { ...createTestPolicy(topology, '').options, ...options },
          reservedCpus: new Set(),
          reservedMilli: BigInt(reserved) * 1000n - 500n,
        })
        assert.equal(policy.reserved.size, reserved)
        let state = toCpuState(policy, new Map())
        for (const { pod, goes, init, side, main } of steps) {
          const uid = parsePodUid(pod)
          if (goes) state = toCpuState(policy, withoutPod(state.assignments, uid))
          else {
            const containers = createPinnedPod(pod, `init:${init} side:${side} main:${main} other:1`)
            const result = computeCpuAllocation(containers, { policy, state, held: new Set() })
            if (result.kind === 'given') state = result.state
          }
          checkState(policy, state)
        }
      }),
    )
  })
})

function checkState(policy: ReturnType<typeof createTestPolicy>, state: CpuState): void {
  const { topology, reserved, options } = policy
  const assigned = assignedCpus(state.assignments)
  const online = allCpus(topology)
  const expected = options.strictReservation ? online.difference(reserved) : online
  assert.equal(formatCpuSet(state.shared.union(assigned)), formatCpuSet(expected), 'the union is what is online')
  assert.equal(state.shared.isDisjointFrom(assigned), true, 'shared and assigned are apart')
  assert.equal(assigned.isDisjointFrom(reserved), true, 'reserved CPUs are never assigned')
  for (const [uid, containers] of state.assignments) {
    const others = assignedCpus(withoutPod(state.assignments, uid))
    for (const cpus of containers.values()) {
      assert.equal(cpus.isDisjointFrom(others), true, 'pods are apart')
      if (options.fullCoresOnly) assert.equal(wholeCores(topology, cpus).size, cpus.size, 'cores are whole')
    }
    const [side, main, other] = ['side', 'main', 'other'].map((name) => containers.get(name) ?? new Set<number>())
    assert.equal(
      side?.isDisjointFrom(main?.union(other ?? new Set()) ?? new Set()),
      true,
      'what runs together is apart',
    )
    assert.equal(main?.isDisjointFrom(other ?? new Set()), true, 'what runs together is apart')
  }
}
