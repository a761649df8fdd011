import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { MACHINES } from '../../../../test/builders/cpu-machines.ts'
import { formatCpuSet, parseCpuSet } from '../../../model/resources/cpu-set.ts'
import { computePackedCpus } from './compute-packed-cpus.ts'

interface Row {
  readonly machine: keyof typeof MACHINES
  readonly free: string
  readonly count: number
  readonly expected: string | undefined
  readonly how?: 'spread' | 'cache'
}

const rows: readonly Row[] = [
  { machine: 'small', free: '0-1', count: 1, expected: '0' },
  { machine: 'small', free: '1', count: 1, expected: '1' },
  { machine: 'small', free: '1', count: 2, expected: undefined },
  { machine: 'one socket', free: '0,2,4,6', count: 5, expected: undefined },
  { machine: 'one socket', free: '0-7', count: 0, expected: '' },
  { machine: 'one socket', free: '0-7', count: 1, expected: '0' },
  { machine: 'one socket', free: '1,3,5-7', count: 1, expected: '6' },
  { machine: 'one socket', free: '0-7', count: 2, expected: '0,4' },
  { machine: 'one socket', free: '0-7', count: 8, expected: '0-7' },
  { machine: 'one socket', free: '0-3,6', count: 2, expected: '2,6' },
  { machine: 'one socket', free: '0-7', count: 3, expected: '0-1,4' },
  { machine: 'one socket', free: '0-7', count: 4, expected: '0-3', how: 'spread' },
  { machine: 'one socket', free: '0-1,4-5', count: 3, expected: '0-1,4', how: 'spread' },
  { machine: 'two sockets', free: '1-5,7-11', count: 1, expected: '2' },
  { machine: 'two sockets', free: '0-11', count: 6, expected: '0,2,4,6,8,10' },
  { machine: 'two sockets', free: '0-11', count: 8, expected: '0-2,4,6-8,10' },
  { machine: 'four NUMA nodes', free: '0-79', count: 40, expected: '0-19,40-59' },
  { machine: 'four NUMA nodes', free: '0-79', count: 20, expected: '0-9,40-49' },
  { machine: 'four NUMA nodes', free: '10-39,50-79', count: 20, expected: '10-19,50-59' },
  { machine: 'four NUMA nodes', free: '0-79', count: 60, expected: '0-29,40-69' },
  { machine: 'four NUMA nodes', free: '0-79', count: 64, expected: '0-31,40-71' },
  { machine: 'four caches', free: '1-15', count: 10, expected: '1-2,4-11', how: 'cache' },
  { machine: 'two sockets with two caches each', free: '0-15', count: 4, expected: '0-3', how: 'cache' },
  { machine: 'two sockets with two caches each', free: '2-15', count: 6, expected: '2-7', how: 'cache' },
  { machine: 'two sockets with two caches each', free: '8-15', count: 4, expected: '8-11', how: 'cache' },
  { machine: 'two NUMA nodes in a socket', free: '3,4-8,12', count: 2, expected: '4-5', how: 'cache' },
  { machine: 'two caches with threads', free: '2-3,10-11,4-7,12-15', count: 6, expected: '4-6,12-14', how: 'cache' },
  { machine: 'two caches with threads', free: '1-7,9-15', count: 10, expected: '1,4-7,9,12-15', how: 'cache' },
  { machine: 'two caches with threads', free: '0-15', count: 3, expected: '0-1,8', how: 'cache' },
]

describe('computePackedCpus()', () => {
  for (const { machine, free, count, expected, how = 'packed' } of rows) {
    test(`${count} of ${free}, ${machine}, ${how}`, () => {
      const available = new Set(parseCpuSet(free))
      const desired = { available, count, spreadOverCores: how === 'spread', byUncoreCache: how === 'cache' }
      const cpus = computePackedCpus(MACHINES[machine], desired)
      assert.equal(cpus && formatCpuSet(cpus), expected)
    })
  }

  test('gives just as many as are asked for, all of them free, on every machine', () => {
    const machines = fc.constantFrom(...Object.values(MACHINES))
    const input = machines.chain((topology) =>
      fc.record({
        topology: fc.constant(topology),
        free: fc.subarray(topology.map(({ cpu }) => cpu)),
        count: fc.nat({ max: topology.length }),
        how: fc.constantFrom('packed', 'spread', 'cache'),
      }),
    )
    fc.assert(
      fc.property(input, ({ topology, free, count, how }) => {
        const available = new Set(free)
        const desired = { available, count, spreadOverCores: how === 'spread', byUncoreCache: how === 'cache' }
        const cpus = computePackedCpus(topology, desired)
        if (count > free.length) return cpus === undefined
        return cpus?.size === count && cpus.isSubsetOf(available)
      }),
    )
  })
})
