import assert from 'node:assert/strict'
import { cpus, uptime } from 'node:os'
import { test } from 'node:test'
import { readIdleCpu } from './read-idle-cpu.ts'

test('readIdleCpu() is what the CPUs had left, at most the time of all of them', () => {
  const idle = readIdleCpu()
  assert.ok(idle > 0 && idle <= uptime() * 1000 * cpus().length, `${idle} ms`)
  assert.ok(readIdleCpu() >= idle)
})
