import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NodeStatus } from '../../../model/generated/core-v1.ts'
import { computeMissingCapacity, computeNodeResources } from './compute-node-resources.ts'
import type { MachineSize } from './node-info.ts'
import type { ResourceProfile } from './node-profile.ts'

const MACHINE: MachineSize = {
  cpus: 4,
  memoryBytes: 16_384_256n * 1024n,
  hugepages: [],
  storageBytes: 50_000_000n * 1024n,
}
const PROFILE: ResourceProfile = { maxPods: 110, podsPerCore: 0, reserved: [], evictionHard: {}, localStorage: true }
const ALL = { cpu: '4', memory: '16384256Ki', pods: '110', 'ephemeral-storage': '50000000Ki' }

describe('computeNodeResources()', () => {
  const rows: readonly (readonly [
    string,
    Partial<ResourceProfile>,
    Partial<MachineSize>,
    NodeStatus,
    Readonly<Record<string, string>>,
    Readonly<Record<string, string>>?,
  ])[] = [
    ['all that there is', {}, {}, {}, ALL],
    ['as many pods as the cores bear', { podsPerCore: 10 }, {}, {}, { ...ALL, pods: '40' }],
    ['never more pods than allowed', { podsPerCore: 100 }, {}, {}, ALL],
    [
      'reservations of both kinds',
      {
        reserved: [
          { cpu: '100m', memory: '1Mi' },
          { cpu: '1', pid: '100', 'ephemeral-storage': '1Ki' },
        ],
      },
      {},
      {},
      ALL,
      { ...ALL, cpu: '2900m', memory: '16383232Ki', 'ephemeral-storage': '49999999Ki' },
    ],
    ['no less than nothing', { reserved: [{ cpu: '5' }] }, {}, {}, ALL, { ...ALL, cpu: '0' }],
    [
      'eviction thresholds, percentages with the precision of Go',
      { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' } },
      {},
      {},
      ALL,
      { ...ALL, memory: '16281856Ki', 'ephemeral-storage': '46079999924' },
    ],
    [
      'percentages that are no thresholds',
      { evictionHard: { 'memory.available': '0%', 'nodefs.available': '100%' } },
      {},
      {},
      ALL,
    ],
    [
      'devices, of which only some can be given',
      {},
      {
        devices: {
          capacity: new Map([['example.com/gpu', 3]]),
          allocatable: new Map([['example.com/gpu', 2]]),
          areRecorded: true,
        },
      },
      { capacity: { 'example.com/gpu': '8', 'other.com/thing': '1' } },
      { ...ALL, 'example.com/gpu': '3', 'other.com/thing': '1' },
      { ...ALL, 'example.com/gpu': '2', 'other.com/thing': '1' },
    ],
    [
      'huge pages, which are no longer memory',
      {},
      {
        hugepages: [
          { sizeBytes: 2_097_152n, count: 8n },
          { sizeBytes: 1_073_741_824n, count: 0n },
        ],
      },
      {},
      { ...ALL, 'hugepages-2Mi': '16Mi', 'hugepages-1Gi': '0' },
      { ...ALL, 'hugepages-2Mi': '16Mi', 'hugepages-1Gi': '0', memory: '16367872Ki' },
    ],
    [
      'no disk where it is not shared out',
      { localStorage: false },
      {},
      {},
      { cpu: '4', memory: '16384256Ki', pods: '110' },
    ],
    [
      'no disk that could not be measured',
      {},
      { storageBytes: undefined },
      {},
      { cpu: '4', memory: '16384256Ki', pods: '110' },
    ],
    [
      'what others have put there; what is no longer there goes',
      {},
      {},
      {
        capacity: { 'example.com/gpu': '2', cpu: '1' },
        allocatable: { 'example.com/gpu': '1', 'example.com/gone': '7', other: '3' },
      },
      { 'example.com/gpu': '2', ...ALL },
      { 'example.com/gpu': '2', other: '3', ...ALL },
    ],
    [
      'the spelling of what has not changed',
      {},
      {},
      { capacity: { cpu: '4000m' }, allocatable: { memory: '16777478144' } },
      { ...ALL, cpu: '4000m' },
      { ...ALL, memory: '16777478144' },
    ],
  ]
  for (const [name, profile, machine, status, capacity, allocatable = capacity] of rows) {
    test(name, () => {
      assert.deepEqual(computeNodeResources(status, { ...PROFILE, ...profile }, { ...MACHINE, ...machine }), {
        capacity,
        allocatable,
      })
    })
  }
})

test('computeMissingCapacity() names what a node cannot be without', () => {
  const missing = (capacity: Readonly<Record<string, string>>, localStorage: boolean) =>
    computeMissingCapacity(capacity, { ...PROFILE, localStorage })
  assert.deepEqual(
    [missing(ALL, true), missing({ cpu: '1' }, true), missing({ cpu: '1' }, false)],
    [[], ['memory', 'pods', 'ephemeral-storage'], ['memory', 'pods']],
  )
})
