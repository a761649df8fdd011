import assert from 'node:assert/strict'
import { release } from 'node:os'
import { test } from 'node:test'
import { readKernel } from './read-kernel.ts'

test('readKernel() reads the kernel of this machine', () => {
  const kernel = readKernel()
  assert.equal(kernel.release, release())
  assert.match(kernel.release, /^\d+\.\d+/)
  assert.equal(typeof kernel.appArmor, 'boolean')
})
