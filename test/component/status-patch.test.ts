import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { applyStrategicMergePatch } from '../../src/api-server/rest/patch/strategic-merge-patch.ts'
import type { PodCondition, PodStatus } from '../../src/model/generated/core-v1.ts'
import { computeStatusPatch } from '../../src/pods/status/compute-status-patch.ts'

type Json = Parameters<typeof applyStrategicMergePatch>[0]

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const amounts = fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.constantFrom('1', '2'))
const addresses = fc.uniqueArray(fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1'), { maxLength: 3 })
const toIps = (list: readonly string[]) => list.map((ip) => ({ ip }))

function arbitraryConditions(types: readonly string[], least: number): fc.Arbitrary<readonly PodCondition[]> {
  const condition = fc.record({
    type: fc.constantFrom(...types),
    status: fc.constantFrom('True', 'False'),
    reason: maybe(fc.constantFrom('A', 'B')),
  })
  return fc.uniqueArray(condition, { selector: ({ type }) => type, minLength: least, maxLength: types.length })
}

const OWN = ['Ready', 'Initialized', 'PodScheduled']
const PASSING = ['PodResizePending', 'AllContainersRestarting']
const FOREIGN = ['shop.test/paid', 'shop.test/seen']

function arbitraryStatus(conditions: fc.Arbitrary<readonly PodCondition[]>): fc.Arbitrary<PodStatus> {
  return fc.record({
    phase: fc.constantFrom('Pending', 'Running', 'Failed'),
    reason: maybe(fc.constantFrom('A', 'B')),
    observedGeneration: maybe(fc.integer({ min: 1, max: 3 })),
    conditions,
    containerStatuses: maybe(
      fc.array(fc.record({ name: fc.constantFrom('a', 'b'), ready: fc.boolean(), restartCount: fc.nat(2) }), {
        maxLength: 2,
      }) as unknown as fc.Arbitrary<PodStatus['containerStatuses']>,
    ),
    resources: maybe(fc.record({ requests: amounts, limits: maybe(amounts) })),
    podIPs: addresses.map(toIps),
  })
}

const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
const byType = (conditions: readonly PodCondition[] = []) =>
  conditions.toSorted((a, b) => (a.type < b.type ? -1 : 1)).map((condition) => plain(condition))

test('a patch changes what the API holds to what it should hold, and leaves what others wrote', () => {
  const before = arbitraryStatus(arbitraryConditions([...OWN, ...PASSING, ...FOREIGN], 0))
  // What is always reported is never left out.
  const after = arbitraryStatus(
    fc
      .tuple(arbitraryConditions(OWN, OWN.length), arbitraryConditions(PASSING, 0))
      .map(([own, passing]) => [...own, ...passing]),
  )
  fc.assert(
    fc.property(before, after, (held, wanted) => {
      const patch = computeStatusPatch(plain(held), plain(wanted)) ?? {}
      const merged = applyStrategicMergePatch(plain(held) as Json, plain(patch) as Json, 'PodStatus') as PodStatus
      const foreign = held.conditions?.filter(({ type }) => FOREIGN.includes(type)) ?? []
      const expected = { ...plain(wanted), conditions: byType([...(wanted.conditions ?? []), ...foreign]) }
      assert.deepEqual({ podIPs: [], ...merged, conditions: byType(merged.conditions) }, expected)
      assert.equal(computeStatusPatch(merged, plain(wanted)), undefined, 'and then there is nothing to report')
    }),
  )
})
