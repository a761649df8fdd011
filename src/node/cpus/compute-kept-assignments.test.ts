import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MACHINES } from '../../../test/builders/cpu-machines.ts'
import { createTestPolicy, showCpuState, toTable } from '../../../test/builders/create-cpu-policy.ts'
import { parseCpuSet } from '../../model/resources/cpu-set.ts'
import { computeKeptAssignments } from './compute-kept-assignments.ts'

interface Row {
  readonly name: string
  readonly shared: string
  readonly table?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly strict?: boolean
  readonly kept: string
  readonly dropped?: readonly string[]
  readonly problem?: RegExp
}

/** On a machine with the CPUs 0-7, of which 0 is reserved. */
const rows: readonly Row[] = [
  { name: 'a file that was never written to', shared: '', kept: '0-7' },
  { name: 'a file that fits', shared: '0,3-7', table: { a: { x: '1-2', y: '1' } }, kept: '0,3-7 a.x=1-2 a.y=1' },
  {
    name: 'reserved CPUs that no container shares, where they are strictly reserved',
    shared: '2-7',
    table: { a: { x: '1' } },
    strict: true,
    kept: '2-7 a.x=1',
  },
  {
    name: 'reserved CPUs that became strictly reserved',
    shared: '0,2-7',
    table: { a: { x: '1' } },
    strict: true,
    kept: '2-7 a.x=1',
    problem: /^the shared CPUs are recorded as "0,2-7" and have to be "2-7"$/,
  },
  {
    name: 'a CPU that is both shared and not',
    shared: '0-7',
    table: { a: { x: '1' } },
    kept: '0,2-7 a.x=1',
    problem: /have to be "0,2-7"$/,
  },
  { name: 'a machine that has grown', shared: '0-3', kept: '0-7', problem: /have to be "0-7"$/ },
  {
    name: 'CPUs that are not there, reserved, or without an owner',
    shared: '1,3-6',
    table: { a: { x: '7-8' }, b: { x: '0,2' }, c: { x: '' }, d: { x: '2' } },
    kept: '0-1,3-7 d.x=2',
    dropped: ['a.x=7-8', 'b.x=0,2', 'c.x='],
    problem: /^some CPUs are not there any more, are reserved now, or belong to two pods$/,
  },
  {
    name: 'CPUs of two pods',
    shared: '0,4-7',
    table: { a: { x: '1-2' }, b: { x: '2-3' } },
    kept: '0,3-7 a.x=1-2',
    dropped: ['b.x=2-3'],
    problem: /belong to two pods$/,
  },
]

describe('computeKeptAssignments()', () => {
  for (const { name, shared, table = {}, strict = false, kept, dropped = [], problem } of rows) {
    test(name, () => {
      const policy = createTestPolicy(MACHINES['one socket'], '0', { strictReservation: strict })
      const recorded = { shared: new Set(parseCpuSet(shared)), assignments: toTable(table) }
      const result = computeKeptAssignments(recorded, policy)
      assert.equal(showCpuState(result.state), kept)
      assert.deepEqual(
        result.dropped.map(({ uid, container, cpus }) => `${uid}.${container}=${cpus}`),
        dropped,
      )
      assert.match(result.problem ?? '', problem ?? /^$/)
    })
  }
})
