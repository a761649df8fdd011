import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ResourceRequirements } from '../generated/core-v1.ts'
import { sameAllocation, sameCpuAndMemory, sameResources } from './same-resources.ts'

interface Row {
  readonly a: ResourceRequirements | undefined
  readonly b: ResourceRequirements | undefined
  /** Of everything, and of what can be resized. */
  readonly expected: readonly [boolean, boolean]
}

const rows: Readonly<Record<string, Row>> = {
  'nothing and nothing': { a: undefined, b: {}, expected: [true, true] },
  'the same in other words': { a: { limits: { cpu: '1' } }, b: { limits: { cpu: '1000m' } }, expected: [true, true] },
  'none and no limit': { a: { limits: { cpu: '0' } }, b: {}, expected: [true, true] },
  'more CPU': { a: { limits: { cpu: '1' } }, b: { limits: { cpu: '2' } }, expected: [false, false] },
  'a new request': { a: {}, b: { requests: { memory: '1Mi' } }, expected: [false, false] },
  'other huge pages': {
    a: { limits: { 'hugepages-2Mi': '2Mi' } },
    b: { limits: { 'hugepages-2Mi': '4Mi' } },
    expected: [false, true],
  },
  'another claim': { a: { claims: [{ name: 'a' }] }, b: { claims: [{ name: 'b' }] }, expected: [false, true] },
}

describe('sameResources() and sameCpuAndMemory()', () => {
  for (const [name, { a, b, expected }] of Object.entries(rows)) {
    test(name, () => {
      assert.deepEqual([sameResources(a, b), sameCpuAndMemory(a, b)], expected)
      assert.deepEqual([sameResources(b, a), sameCpuAndMemory(b, a)], expected)
    })
  }
})

test('sameAllocation() compares the pod and each container', () => {
  const one = { containers: new Map([['a', { limits: { cpu: '1' } }]]), pod: undefined }
  assert.equal(sameAllocation(one, { containers: new Map([['a', { limits: { cpu: '1000m' } }]]), pod: {} }), true)
  assert.equal(sameAllocation(one, { containers: new Map([['b', { limits: { cpu: '1' } }]]), pod: undefined }), false)
  assert.equal(sameAllocation(one, { ...one, pod: { limits: { cpu: '1' } } }), false)
})
