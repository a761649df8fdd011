import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Node } from '../../model/generated/core-v1.ts'
import { computeNodePatch } from './status/compute-node-patch.ts'
import { computeNodeReconciliation } from './compute-node-reconciliation.ts'

const ATTACH = 'volumes.kubernetes.io/controller-managed-attach-detach'
const initial: Node = {
  metadata: {
    name: 'node-1',
    labels: { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/hostname': 'node-1', custom: 'new' },
    annotations: { [ATTACH]: 'true' },
  },
  spec: { providerID: 'new', taints: [{ key: 'new', effect: 'NoSchedule' }] },
  status: {
    capacity: { cpu: '4', 'hugepages-2Mi': '16Mi' },
    allocatable: { cpu: '4', 'hugepages-2Mi': '16Mi' },
  },
}
const asBefore: Node = {
  metadata: {
    name: 'node-1',
    uid: 'n-1',
    labels: { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/hostname': 'node-1', role: '' },
    annotations: { [ATTACH]: 'true', other: '1' },
  },
  spec: { providerID: 'old' },
  status: {
    capacity: { cpu: '2', 'hugepages-2Mi': '16384Ki', 'example.com/gpu': '0' },
    allocatable: { cpu: '2', 'hugepages-2Mi': '16384Ki', 'example.com/gpu': '0' },
  },
}
const changed = (metadata: Node['metadata'], status: Node['status'] = {}): Node => ({
  ...asBefore,
  metadata: { ...asBefore.metadata, ...metadata },
  status: { ...asBefore.status, ...status },
})

const NEW = { keepsDevices: false }

describe('computeNodeReconciliation()', () => {
  const rows: readonly (readonly [string, Node, unknown])[] = [
    ['an object that is fine keeps its labels, taints and provider', asBefore, undefined],
    [
      'a wrong label is put right, a label that is asked for only now is not added',
      changed({ labels: { 'kubernetes.io/arch': 'arm64', custom: 'old' } }),
      { metadata: { labels: { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/hostname': 'node-1' } } },
    ],
    ['the annotation comes back', changed({ annotations: {} }), { metadata: { annotations: { [ATTACH]: 'true' } } }],
    [
      'huge pages are as they are now',
      changed({}, { capacity: { cpu: '2', 'hugepages-2Mi': '8Mi', 'hugepages-1Gi': '1Gi' } }),
      { status: { capacity: { 'hugepages-2Mi': '16Mi', 'hugepages-1Gi': null } } },
    ],
    [
      'devices are not available',
      changed({}, { capacity: { cpu: '2', 'hugepages-2Mi': '16Mi', 'example.com/gpu': '4' } }),
      { status: { capacity: { 'example.com/gpu': '0' } } },
    ],
    [
      'resources are filled in where there are none',
      { ...asBefore, status: {} },
      { status: { capacity: initial.status?.capacity, allocatable: initial.status?.allocatable } },
    ],
  ]
  for (const [name, existing, patch] of rows) {
    test(name, () => {
      assert.deepEqual(computeNodePatch(existing, computeNodeReconciliation(initial, existing, NEW)), patch)
    })
  }

  test('devices that were recorded are reported by their plugins', () => {
    const existing = changed({}, { capacity: { cpu: '2', 'hugepages-2Mi': '16Mi', 'example.com/gpu': '4' } })
    const after = computeNodeReconciliation(initial, existing, { keepsDevices: true })
    assert.equal(computeNodePatch(existing, after), undefined)
  })

  test('the annotation goes when volumes are attached by the node', () => {
    const { annotations: _, ...metadata } = initial.metadata ?? {}
    const after = computeNodeReconciliation({ ...initial, metadata }, asBefore, NEW)
    assert.deepEqual(after.metadata?.annotations, { other: '1' })
  })
})
