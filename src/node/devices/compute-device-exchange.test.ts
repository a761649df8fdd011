import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { computeCandidates, computeDeviceExchange } from './compute-device-exchange.ts'
import type { DeviceExchangeInput } from './compute-device-exchange.ts'
import type { DeviceList, ReservedDevices } from './device.ts'

const IDS = ['a', 'b', 'c', 'd', 'e']
const devices: DeviceList = new Map(IDS.map((id) => [id, { id, isHealthy: id !== 'e', nodes: id < 'c' ? [0] : [1] }]))
const reserved = (ids: string, fixed = '', nodes?: readonly number[]): ReservedDevices => ({
  kind: 'reserved',
  ids: ids.split(''),
  open: { fixed: fixed.split(''), nodes: nodes && new Set(nodes) },
})
const input = (
  own: ReservedDevices,
  others: Readonly<Record<string, ReservedDevices>> = {},
  given = '',
): DeviceExchangeInput => ({
  own,
  others: new Map(Object.entries(others)),
  devices,
  taken: new Set([...own.ids, ...Object.values(others).flatMap(({ ids }) => ids), ...given.split('')]),
})

test('computeCandidates() has free ones, own ones and those that others would exchange', () => {
  const text = (...args: Parameters<typeof input>) => computeCandidates(input(...args)).join('')
  assert.equal(text(reserved('a')), 'abcd')
  assert.equal(text(reserved('ab', 'a'), {}, 'd'), 'bc')
  assert.equal(text(reserved('a'), { x: reserved('bc', 'b') }, 'd'), 'ac')
  assert.equal(text(reserved('a', '', [0])), 'ab')
})

describe('computeDeviceExchange()', () => {
  const rows: readonly (readonly [string, string, DeviceExchangeInput, string, Readonly<Record<string, string>>])[] = [
    ['takes what is free', 'c', input(reserved('a')), 'c', {}],
    ['keeps what it has when that is preferred', 'a', input(reserved('ab')), 'ab', {}],
    ['takes no more than it needs', 'cd', input(reserved('a')), 'c', {}],
    ['never gives up what is fixed', 'cd', input(reserved('ab', 'a')), 'ac', {}],
    ['takes nothing that is ill, taken or unknown', 'eax', input(reserved('b'), {}, 'a'), 'b', {}],
    ['exchanges with another', 'b', input(reserved('a'), { x: reserved('bc') }), 'b', { x: 'ac' }],
    ['leaves another what it cannot replace', 'c', input(reserved('a'), { x: reserved('c', '', [1]) }), 'a', {}],
    ['does not apply the same preference twice', 'cc', input(reserved('ab')), 'cb', {}],
  ]
  for (const [name, preferred, given, own, others] of rows) {
    test(name, () => {
      const result = computeDeviceExchange(preferred.split(''), given)
      assert.deepEqual(
        {
          own: result.own.join(''),
          others: Object.fromEntries([...result.others].map(([key, ids]) => [key, ids.join('')])),
        },
        { own, others },
      )
    })
  }

  test('each container has as many as before, and none has what another has', () => {
    const holders = fc.shuffledSubarray(IDS.slice(0, 4), { minLength: 2 })
    fc.assert(
      fc.property(holders, fc.nat({ max: 3 }), fc.array(fc.constantFrom(...IDS)), (ids, cut, preferred) => {
        const split = 1 + (cut % (ids.length - 1))
        const given = input(reserved(ids.slice(0, split).join('')), { x: reserved(ids.slice(split).join('')) })
        const { own, others } = computeDeviceExchange(preferred, given)
        const other = others.get('x') ?? ids.slice(split)
        assert.deepEqual([own.length, other.length], [split, ids.length - split])
        assert.equal(new Set([...own, ...other]).size, ids.length)
      }),
    )
  })
})
