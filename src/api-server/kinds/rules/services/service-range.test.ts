import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  findFreeAddress,
  firstAddress,
  isInRange,
  nthAddress,
  parseServiceRange,
  parseServiceRanges,
} from './service-range.ts'

describe('service ranges', () => {
  test('begin at the base of the network', () => {
    assert.equal(firstAddress(parseServiceRange('10.96.3.4/12')), '10.96.0.1')
    assert.equal(firstAddress(parseServiceRange('192.168.0.0/16')), '192.168.0.1')
  })

  for (const text of ['', '10.0.0.0', '10.0.0.0/30', '10.0.0.0/x', 'fd00::/48', '10.0.0/16', '10.0.0.0/4']) {
    test(`"${text}" is none`, () => assert.throws(() => parseServiceRange(text), /Cannot use the range of services/))
  }

  test('have neither the first nor the last address of their network', () => {
    const range = parseServiceRange('10.0.0.0/28')
    const inside = ['10.0.0.0', '10.0.0.1', '10.0.0.14', '10.0.0.15', '10.0.1.1', '::1', ''].map((address) =>
      isInRange(range, address),
    )
    assert.deepEqual(inside, [false, true, true, false, false, false, false])
  })

  test('give each address once, the reserved ones last', () => {
    const range = parseServiceRange('10.0.0.0/27')
    const taken = new Set<string>()
    const given: string[] = []
    for (let next = findFreeAddress(range, taken); next !== undefined; next = findFreeAddress(range, taken)) {
      taken.add(next)
      given.push(next)
    }
    assert.equal(given.length, 30)
    assert.deepEqual([given[0], given[14], given[15], given.at(-1)], ['10.0.0.17', '10.0.0.1', '10.0.0.2', '10.0.0.16'])
  })

  test('of IPv6 begin after the address of the network', () => {
    const range = parseServiceRange('fd00:1::/112')
    assert.equal(firstAddress(range), 'fd00:1::1')
    assert.equal(nthAddress(range, 10), 'fd00:1::a')
    assert.equal(findFreeAddress(range, new Set()), 'fd00:1::101')
    assert.equal(isInRange(range, 'fd00:1::ffff'), true)
    assert.equal(isInRange(range, 'fd00:2::1'), false)
  })

  test('are one of each family at most', () => {
    assert.deepEqual(
      parseServiceRanges('10.0.0.0/16,fd00::/112').map(({ family }) => family),
      ['IPv4', 'IPv6'],
    )
    assert.throws(() => parseServiceRanges('10.0.0.0/16,10.1.0.0/16'), /one of each family/)
  })
})
