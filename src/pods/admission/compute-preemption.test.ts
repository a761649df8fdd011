import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { computePreemption } from './compute-preemption.ts'
import { computeShortages } from '../../model/resources/fit/compute-shortages.ts'
import type { Shortage } from '../../model/resources/fit/compute-shortages.ts'

type Requests = Readonly<Record<string, string>>

const critical = createPod({ metadata: { uid: 'critical' }, spec: { priority: 2_000_000_000 } })
const needs = (parts: Readonly<Record<string, number>>): readonly Shortage[] =>
  Object.entries(parts).map(([resource, amount]) => ({ resource, requested: BigInt(amount), used: 0n, capacity: 0n }))

function pod(uid: string, requests: Requests, limits: Requests = {}, priority?: number): Pod {
  const containers = [createContainer({ resources: { requests, limits } })]
  return createPod({ metadata: { uid }, spec: { containers, ...(priority !== undefined && { priority }) } })
}

const guaranteed = (uid: string, cpu: string, memory = '1') => pod(uid, { cpu, memory }, { cpu, memory })
const burstable = (uid: string, cpu: string, memory = '1') => pod(uid, { cpu, memory })
const bestEffort = (uid: string) => pod(uid, {})

describe('computePreemption()', () => {
  const rows: readonly (readonly [string, Readonly<Record<string, number>>, readonly Pod[], readonly string[]])[] = [
    ['the one that has enough', { cpu: 500 }, [burstable('a', '100m'), burstable('b', '600m')], ['b']],
    ['the smallest that has enough', { cpu: 500 }, [burstable('a', '900m', '2'), burstable('b', '600m')], ['b']],
    [
      'burstable pods before guaranteed ones, even when it takes more of them',
      { cpu: 500 },
      [guaranteed('a', '500m'), burstable('b', '250m'), burstable('c', '250m')],
      ['c', 'b'],
    ],
    [
      'guaranteed pods only for what the others do not have',
      { cpu: 700 },
      [guaranteed('a', '600m'), guaranteed('b', '200m'), burstable('c', '500m')],
      ['c', 'b'],
    ],
    [
      'the one nearest to all needs',
      { cpu: 100, memory: 100 },
      [burstable('a', '200m', '90'), burstable('b', '90m', '0'), burstable('c', '90m', '200')],
      ['a', 'c'],
    ],
    [
      'pods without promises for a place',
      { pods: 1 },
      [guaranteed('a', '1'), burstable('b', '1'), bestEffort('c')],
      ['c'],
    ],
    [
      'those who promise least go first',
      { cpu: 1200, pods: 1 },
      [guaranteed('a', '1'), burstable('b', '1'), bestEffort('c')],
      ['b', 'a'],
    ],
  ]
  for (const [name, parts, others, expected] of rows) {
    test(`takes ${name}`, () => {
      const found = computePreemption(critical, others, needs(parts))
      assert.deepEqual(found.kind === 'victims' ? found.victims.map(({ metadata }) => metadata.uid) : found, expected)
    })
  }

  test('spares the critical, unless their priority is lower', () => {
    const lower = pod('lower', { cpu: '1' }, {}, 2_000_000_000)
    const same = pod('same', { cpu: '1' }, {}, 2_000_001_000)
    const node = createPod({ spec: { priority: 2_000_001_000 } })
    assert.deepEqual(computePreemption(node, [same, lower], needs({ cpu: 1 })), { kind: 'victims', victims: [lower] })
    assert.deepEqual(computePreemption(node, [same], needs({ cpu: 1 })), {
      kind: 'impossible',
      missing: [{ resource: 'cpu', amount: 1n }],
    })
  })

  test('says what is missing even when all go', () => {
    assert.deepEqual(computePreemption(critical, [burstable('a', '1')], needs({ cpu: 1500, memory: 1 })), {
      kind: 'impossible',
      missing: [{ resource: 'cpu', amount: 500n }],
    })
  })

  test('whatever the pods: those who go make room, and none of them in vain for their class', () => {
    const anyPod = fc
      .tuple(fc.constantFrom('g', 'b', 'n'), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
      .map(([kind, cpu, memory]) => ({ kind, cpu: `${cpu}00m`, memory: `${memory}Mi` }))
    fc.assert(
      fc.property(fc.array(anyPod, { maxLength: 8 }), fc.integer({ min: 1, max: 30 }), (kinds, cpu) => {
        const others = kinds.map(({ kind, cpu, memory }, index) => {
          if (kind === 'n') return bestEffort(`${index}`)
          return kind === 'g' ? guaranteed(`${index}`, cpu, memory) : burstable(`${index}`, cpu, memory)
        })
        const allocatable = parseAmounts({ pods: '9', cpu: '2', memory: '20Mi' })
        const wanted = pod('w', { cpu: `${cpu}00m` }, {}, 2_000_000_000)
        const shortages = computeShortages(wanted, { otherPods: others, allocatable })
        if (shortages.length === 0) return
        const found = computePreemption(wanted, others, shortages)
        if (found.kind === 'impossible') return assert.ok(cpu > 20)
        const stay = others.filter((other) => !found.victims.includes(other))
        assert.deepEqual(computeShortages(wanted, { otherPods: stay, allocatable }), [])
      }),
    )
  })
})
