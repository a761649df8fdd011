import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeDeviceHints, hasPlaces } from './compute-device-hints.ts'
import type { HintInput } from './compute-device-hints.ts'
import type { DeviceList } from './device.ts'

const list = (places: Readonly<Record<string, readonly number[]>>): DeviceList =>
  new Map(Object.entries(places).map(([id, nodes]) => [id, { id, isHealthy: true, nodes }]))
const four = list({ a: [0], b: [0], c: [1], d: [1] })

/** Such as "0* 1* 01": the nodes of each hint, with a star where it is preferred. */
function shown(parts: Partial<HintInput>): string {
  const { devices = four } = parts
  const whole = { devices, available: [...devices.keys()], reusable: [], count: 1, numaNodes: [0, 1], ...parts }
  return computeDeviceHints(whole)
    .map(({ nodes, preferred }) => `${[...nodes].join('')}${preferred ? '*' : ''}`)
    .join(' ')
}

describe('computeDeviceHints()', () => {
  const rows: readonly (readonly [string, Partial<HintInput>, string])[] = [
    ['every node that has enough, and all of them together', { count: 2 }, '0* 1* 01'],
    ['only together', { count: 3 }, '01*'],
    ['only where some are left', { count: 2, available: ['a', 'c', 'd'] }, '1* 01'],
    ['not preferred where fewer nodes could do it, were they free', { count: 2, available: ['a', 'c'] }, '01'],
    ['nowhere', { count: 5 }, ''],
    ['with what the pod has', { count: 2, available: ['b', 'd'], reusable: ['c'] }, '1* 01'],
    ['a device that is near to two nodes counts for both', { devices: list({ a: [0, 1], b: [1] }), count: 2 }, '1* 01'],
    ['only nodes with such devices', { devices: list({ a: [1] }), numaNodes: [0, 1, 2] }, '1*'],
    ['nodes that the machine does not have are not known', { devices: list({ a: [7] }) }, ''],
  ]
  for (const [name, parts, expected] of rows) {
    test(name, () => {
      assert.equal(shown(parts), expected)
    })
  }
})

test('hasPlaces() knows whether a plugin reports where devices are', () => {
  assert.deepEqual([hasPlaces(four), hasPlaces(list({ a: [] })), hasPlaces(new Map())], [true, false, false])
})
