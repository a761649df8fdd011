import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestPolicy } from '../../../test/builders/create-cpu-policy.ts'
import { MACHINES } from '../../../test/builders/cpu-machines.ts'
import { formatCpuSet, parseCpuSet } from '../../model/resources/cpu-set.ts'
import { createCpuPolicy } from './create-cpu-policy.ts'

const create = (machine: keyof typeof MACHINES, cpus: string, milli: bigint, acrossCores = false) => {
  const topology = MACHINES[machine]
  const { options } = createTestPolicy(topology, '', { acrossCores })
  const policy = createCpuPolicy({ topology, options, reservedCpus: new Set(parseCpuSet(cpus)), reservedMilli: milli })
  return formatCpuSet(policy.reserved)
}

describe('createCpuPolicy()', () => {
  for (const [name, reserved, expected] of [
    ['the named CPUs', () => create('one socket', '2-3', 1000n), '2-3'],
    ['as many as are reserved, whole cores first', () => create('one socket', '', 2000n), '0,4'],
    ['a whole one for a part of one', () => create('one socket', '', 100n), '0'],
    ['from one socket', () => create('two sockets', '', 3001n), '0,2,6,8'],
    ['one of each core, where that is wanted', () => create('one socket', '', 2000n, true), '0-1'],
  ] as const) {
    test(`reserves ${name}`, () => assert.equal(reserved(), expected))
  }

  for (const [name, reserve, message] of [
    ['more than there are', () => create('small', '', 2001n), /^Cannot reserve 3 CPUs for the system: expected 1 to 2/],
    ['none', () => create('small', '', 0n), /^Cannot reserve 0 CPUs/],
    [
      'CPUs that are offline',
      () => create('small', '1-2', 0n),
      /^Cannot reserve CPUs "1-2": expected .* online, .* "0-1"/,
    ],
  ] as const) {
    test(`fails with ${name}`, () => assert.throws(reserve, { message }))
  }
})
