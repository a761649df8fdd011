import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { MACHINES } from '../../../../test/builders/cpu-machines.ts'
import { formatCpuSet, parseCpuSet } from '../../../model/resources/cpu-set.ts'
import { computeDistributedCpus } from './compute-distributed-cpus.ts'

type Row = readonly [
  machine: keyof typeof MACHINES,
  free: string,
  count: number,
  groupSize: number,
  expected: string | undefined,
]

const FOUR = 'four NUMA nodes'
const UNEVEN = '0-8,10-18,20-48,50-58,60-79'
const rows: readonly Row[] = [
  ['one socket', '0-7', 9, 1, undefined],
  ['one socket', '0-7', 0, 1, ''],
  ['one socket', '0-7', 2, 1, '0,4'],
  ['two sockets', '1-5,7-11', 1, 1, '1'],
  ['two sockets', '1-5,7-11', 1, 2, '2'],
  [FOUR, '0-79', 20, 1, '0-9,40-49'],
  [FOUR, '0-79', 64, 1, '0-7,10-17,20-27,30-37,40-47,50-57,60-67,70-77'],
  [FOUR, '0-79', 48, 1, '0-7,10-17,20-27,40-47,50-57,60-67'],
  [FOUR, '1-29,32-39,41-69,72-79', 48, 1, '1-8,10-17,20-27,41-48,50-57,60-67'],
  [FOUR, '2-29,31-39,42-69,71-79', 48, 1, '10-17,20-27,31-38,50-57,60-67,71-78'],
  [FOUR, '0-2,10-12,20-22,30-32,40-41,50-51,60-61,70-71', 16, 1, '0-1,10-11,20-21,30-31,40-41,50-51,60-61,70-71'],
  [FOUR, '0-79', 26, 1, '0-6,10-16,40-45,50-55'],
  [FOUR, '0-79', 26, 2, '0-6,10-15,40-46,50-55'],
  [FOUR, '0-79', 62, 1, '0-7,10-17,20-27,30-37,40-47,50-57,60-66,70-76'],
  [FOUR, '0-79', 62, 2, '0-7,10-17,20-27,30-36,40-47,50-57,60-67,70-76'],
  [FOUR, UNEVEN, 62, 1, '0-7,10-17,20-27,30-37,40-46,50-56,60-67,70-77'],
  [FOUR, UNEVEN, 62, 2, '0-7,10-16,20-27,30-37,40-47,50-56,60-67,70-77'],
  [FOUR, '0-3,10-13,20-23,30-36,40-43,50-53,60-63,70-76', 34, 1, '0-3,10-13,20-23,30-34,40-43,50-53,60-63,70-74'],
]

describe('computeDistributedCpus()', () => {
  for (const [machine, free, count, groupSize, expected] of rows) {
    test(`${count} of ${free} in groups of ${groupSize}, ${machine}`, () => {
      const desired = { available: new Set(parseCpuSet(free)), count, groupSize, spreadOverCores: false }
      const cpus = computeDistributedCpus(MACHINES[machine], desired)
      assert.equal(cpus && formatCpuSet(cpus), expected)
    })
  }

  test('gives just as many as are asked for, all of them free, on every machine', () => {
    const input = fc.constantFrom(...Object.values(MACHINES)).chain((topology) =>
      fc.record({
        topology: fc.constant(topology),
        free: fc.subarray(topology.map(({ cpu }) => cpu)),
        count: fc.nat({ max: topology.length }),
        groupSize: fc.constantFrom(1, 2),
      }),
    )
    fc.assert(
      fc.property(input, ({ topology, free, count, groupSize }) => {
        const available = new Set(free)
        const cpus = computeDistributedCpus(topology, { available, count, groupSize, spreadOverCores: false })
        if (count > free.length) return cpus === undefined
        return cpus?.size === count && cpus.isSubsetOf(available)
      }),
    )
  })
})
