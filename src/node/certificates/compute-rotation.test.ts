import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { computeLack, computeRetryDelay, computeRotationTime } from './compute-rotation.ts'

const names = {
  commonName: 'system:node:a',
  organizations: ['system:nodes'],
  dnsNames: ['a'],
  addresses: ['192.0.2.1'],
}

describe('computeRotationTime()', () => {
  test('is between 70 and 90 % of the life of a certificate', () => {
    const info = { notBefore: 1000, notAfter: 2000 }
    assert.deepEqual(
      [0, 0.5, 1].map((chance) => computeRotationTime(info, chance)),
      [1700, 1800, 1900],
    )
    const chance = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
    fc.assert(
      fc.property(chance, fc.nat(), fc.nat(), (chance, notBefore, life) => {
        const at = computeRotationTime({ notBefore, notAfter: notBefore + life }, chance) - notBefore
        return at >= life * 0.7 - 1 && at <= life * 0.9 + 1
      }),
    )
  })
})

describe('computeLack()', () => {
  const rows: readonly (readonly [name: string, change: Partial<typeof names>, lack: string | undefined])[] = [
    ['one that says the same lacks nothing', {}, undefined],
    ['nor one that says more', { dnsNames: ['a', 'b'], addresses: ['::1', '192.0.2.1'] }, undefined],
    ['another node', { commonName: 'system:node:b' }, 'it is for "system:node:b"'],
    ['no group', { organizations: [] }, 'it is not for system:nodes'],
    ['another address', { addresses: ['192.0.2.2'] }, 'it is not for 192.0.2.1'],
    ['no names', { dnsNames: [], addresses: [] }, 'it is not for a, 192.0.2.1'],
  ]
  for (const [name, change, lack] of rows) {
    test(name, () => assert.equal(computeLack({ ...names, ...change }, names), lack))
  }
})

test('computeRetryDelay() doubles four times, with a little chance, and stays at 32 s', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 1000].map((failures) => computeRetryDelay(failures, 0)),
    [2000, 4000, 8000, 16_000, 32_000, 32_000, 32_000],
  )
  assert.equal(computeRetryDelay(1, 0.5), 2100)
})
