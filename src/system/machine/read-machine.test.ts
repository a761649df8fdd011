import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCpuList, readMachine } from './read-machine.ts'

test('parseCpuList() reads the lists of the kernel', () => {
  assert.deepEqual(['0-3,8\n', '0\n', '', '2-2,5-6'].map(parseCpuList), [[0, 1, 2, 3, 8], [0], [], [2, 5, 6]])
})

test('readMachine() finds what every machine has', () => {
  const machine = readMachine()
  assert.ok(machine.memoryBytes > 0n)
  assert.ok(machine.onlineCpus.length > 0)
})
