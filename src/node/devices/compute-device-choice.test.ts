import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { computeDeviceChoice } from './compute-device-choice.ts'
import type { DeviceChoice, DeviceRequest } from './compute-device-choice.ts'
import type { DeviceList } from './device.ts'

/** Such as "a", "b:0" near to a NUMA node, "c:01" near to two, "d!" that is unhealthy. */
function list(...texts: readonly string[]): DeviceList {
  return new Map(
    texts.map((text) => {
      const [id = '', nodes = ''] = text.replace('!', '').split(':')
      return [id, { id, isHealthy: !text.includes('!'), nodes: nodes.split('').map(Number) }]
    }),
  )
}

const near = (...nodes: readonly number[]) => new Set(nodes)
const chosen = (ids: readonly string[], fixed: readonly string[], nodes?: ReadonlySet<number>): DeviceChoice => ({
  kind: 'chosen',
  ids,
  open: { fixed, nodes },
})
const rejected = (why: string): DeviceChoice => ({ kind: 'rejected', why })

describe('computeDeviceChoice()', () => {
  const rows: readonly (readonly [string, DeviceList, readonly string[], Partial<DeviceRequest>, DeviceChoice])[] = [
    ['the first that are free', list('c', 'a', 'b'), ['a'], { count: 1 }, chosen(['b'], [])],
    ['none that is ill', list('a!', 'b'), [], { count: 1 }, chosen(['b'], [])],
    [
      'none where all are ill',
      list('a!'),
      [],
      { count: 1 },
      rejected('no healthy devices present; cannot allocate unhealthy devices example.com/gpu'),
    ],
    [
      'none where too few are left',
      list('a', 'b'),
      ['a'],
      { count: 2 },
      rejected('requested number of devices unavailable for example.com/gpu. Requested: 2, Available: 1'),
    ],
    [
      'those that the pod has first',
      list('a', 'b', 'c'),
      ['c'],
      { count: 2, reusable: ['c'] },
      chosen(['c', 'a'], ['c']),
    ],
    [
      'no more than it needs of them',
      list('a', 'b'),
      ['a', 'b'],
      { count: 1, reusable: ['a', 'b'] },
      chosen(['a'], ['a']),
    ],
    ['none of them that is ill', list('a!', 'b'), ['a'], { count: 1, reusable: ['a'] }, chosen(['b'], [])],
    [
      'of those that are near to the container, any',
      list('a:0', 'b:1', 'c:1'),
      [],
      { count: 1, affinity: near(1) },
      chosen(['b'], [], near(1)),
    ],
    [
      'all that are near, then those near to something else, then the rest',
      list('a', 'b:0', 'c:1', 'd:01'),
      [],
      { count: 3, affinity: near(1) },
      chosen(['c', 'd', 'b'], ['c', 'd']),
    ],
    ['any where no device has a place', list('a', 'b'), [], { count: 1, affinity: near(1) }, chosen(['a'], [])],
  ]
  for (const [name, devices, taken, desired, expected] of rows) {
    test(name, () => {
      const whole = { resource: 'example.com/gpu', count: 1, reusable: [], affinity: undefined, ...desired }
      assert.deepEqual(computeDeviceChoice(whole, { devices, taken: new Set(taken) }), expected)
    })
  }

  test('never chooses one that is taken or unhealthy, or one twice', () => {
    const device = fc.record({ isHealthy: fc.boolean(), nodes: fc.subarray([0, 1, 2]), isTaken: fc.boolean() })
    fc.assert(
      fc.property(fc.array(device), fc.integer({ min: 1, max: 5 }), fc.subarray([0, 1, 2]), (all, count, nodes) => {
        const devices: DeviceList = new Map(all.map((each, index) => [`${index}`, { id: `${index}`, ...each }]))
        const taken = new Set(all.flatMap(({ isTaken }, index) => (isTaken ? [`${index}`] : [])))
        const desired = { resource: 'r', count, reusable: [], affinity: new Set(nodes) }
        const choice = computeDeviceChoice(desired, { devices, taken })
        const free = [...devices.values()].filter(({ id, isHealthy }) => isHealthy && !taken.has(id))
        assert.equal(choice.kind, free.length >= count ? 'chosen' : 'rejected')
        if (choice.kind === 'rejected') return
        assert.equal(new Set(choice.ids).size, count)
        assert.ok(choice.ids.every((id) => free.some((each) => each.id === id)))
        assert.ok(choice.open.fixed.every((id) => choice.ids.includes(id)))
      }),
    )
  })
})
