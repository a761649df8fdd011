import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import { formatQuantity } from '../../model/resources/quantity.ts'
import { computeAmountsCgroup, computePodsAmounts, computeReservationProblems } from './compute-node-cgroups.ts'
import type { NodeAmounts } from './compute-node-cgroups.ts'

const capacity = { cpu: '4', memory: '8Gi', pid: '32768', 'ephemeral-storage': '50Gi', 'hugepages-2Mi': '4Mi' }
const nothing = parseAmounts({})
const amounts: NodeAmounts = { capacity: parseAmounts(capacity), system: nothing, kube: nothing, eviction: nothing }

describe('computeAmountsCgroup()', () => {
  test('writes memory, the weight of CPUs, processes and huge pages, and nothing else', () => {
    assert.deepEqual(computeAmountsCgroup(amounts.capacity, { cpuOnly: false }), {
      cpuShares: 4096n,
      memoryLimitBytes: 8n << 30n,
      pidsLimit: 32_768n,
      hugepageLimits: new Map([['2MB', 4n << 20n]]),
    })
  })

  test('leaves alone what there is no word about', () => {
    assert.deepEqual(computeAmountsCgroup(parseAmounts({ cpu: '500m' }), { cpuOnly: false }), {
      cpuShares: 512n,
      hugepageLimits: new Map(),
    })
  })

  test('writes only the weight of CPUs for what gives way', () => {
    assert.deepEqual(computeAmountsCgroup(amounts.capacity, { cpuOnly: true }), { cpuShares: 4096n })
    assert.deepEqual(computeAmountsCgroup(parseAmounts({ memory: '1Gi' }), { cpuOnly: true }), {})
  })
})

describe('computePodsAmounts()', () => {
  const reserved: NodeAmounts = {
    ...amounts,
    system: parseAmounts({ cpu: '500m', memory: '1Gi', pid: '1000' }),
    kube: parseAmounts({ cpu: '250m', memory: '9Gi' }),
    eviction: parseAmounts({ memory: '100Mi' }),
  }
  const texts = (enforced: boolean) =>
    Object.fromEntries(
      [...computePodsAmounts(reserved, enforced)].map(([name, amount]) => [name, formatQuantity(amount)]),
    )

  test('takes off both reservations, never below 0, and not what eviction defends', () => {
    assert.deepEqual(texts(true), { ...capacity, cpu: '3250m', memory: '0', pid: '31768' })
  })

  test('is all that there is when it is not enforced', () => assert.deepEqual(texts(false), capacity))
})

describe('computeReservationProblems()', () => {
  const rows: readonly (readonly [
    name: string,
    Partial<Record<keyof NodeAmounts, Record<string, string>>>,
    string[],
  ])[] = [
    ['nothing reserved', {}, []],
    ['all reserved', { system: { cpu: '2' }, kube: { cpu: '2' } }, []],
    [
      'more than there is, together',
      { system: { cpu: '2', memory: '8Gi' }, kube: { cpu: '2500m' }, eviction: { memory: '100Mi' } },
      [
        'cpu: systemReserved 2 + kubeReserved 2500m, expected at most 4 in all',
        'memory: systemReserved 8Gi + evictionHard 100Mi, expected at most 8Gi in all',
      ],
    ],
    ['what the node does not have at all is left out', { system: { 'hugepages-1Gi': '1Gi' } }, []],
  ]
  for (const [name, parts, expected] of rows) {
    test(name, () => {
      const parsed = Object.fromEntries(Object.entries(parts).map(([key, texts]) => [key, parseAmounts(texts)]))
      assert.deepEqual(computeReservationProblems({ ...amounts, ...parsed }), expected)
    })
  }
})
