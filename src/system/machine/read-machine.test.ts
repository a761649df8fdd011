import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMachine } from './read-machine.ts'

test('readMachine() finds what every machine has', () => {
  const machine = readMachine()
  assert.ok(machine.memoryBytes > 0n)
  assert.ok(machine.onlineCpus.length > 0)
})
