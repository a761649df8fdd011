import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import type { ResourceClaim } from '../../model/resources/resource-claim.ts'
import { computeClaimFault } from './compute-claim-fault.ts'

const pod = createPod({
  metadata: { uid: 'u-1', name: 'web', namespace: 'shop' },
  spec: { schedulingGroup: { podGroupName: 'team' } },
})
const allocation = { devices: { results: [{ driver: 'a.example' }] } }
const forPod = { reservedFor: [{ resource: 'pods', name: 'web', uid: 'u-1' }] }
const forGroup = { reservedFor: [{ apiGroup: 'scheduling.k8s.io', resource: 'podgroups', name: 'team', uid: 'g' }] }
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u-1', controller: true }
const group = { apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'PodGroup', name: 'team', uid: 'g', controller: true }

interface Row {
  readonly claim: ResourceClaim
  readonly isOwned?: boolean
  readonly podGroups?: boolean
  readonly fault: string | undefined
}

describe('computeClaimFault()', () => {
  const notAllowed = 'pod web (u-1) is not allowed to use ResourceClaim gpu (c-1)'
  const notMade = 'ResourceClaim shop/gpu was not created for Pod shop/web'
  const rows: Readonly<Record<string, Row>> = {
    'a claim that is ready': { claim: { status: { allocation, ...forPod } }, fault: undefined },
    'one that is reserved for no pod': { claim: { status: { allocation } }, fault: notAllowed },
    'one that is reserved for an older pod of the same name': {
      claim: { status: { allocation, reservedFor: [{ resource: 'pods', name: 'web', uid: 'u-0' }] } },
      fault: notAllowed,
    },
    'one without devices': { claim: { status: forPod }, fault: 'ResourceClaim gpu: not allocated' },
    'one that was made for the pod': {
      claim: { metadata: { ownerReferences: [owner] }, status: { allocation, ...forPod } },
      isOwned: true,
      fault: undefined,
    },
    'one that was made for another': {
      claim: { metadata: { ownerReferences: [{ ...owner, uid: 'u-0' }] }, status: { allocation, ...forPod } },
      isOwned: true,
      fault: notMade,
    },
    'one that the pod does not control': {
      claim: { metadata: { ownerReferences: [{ ...owner, controller: false }] }, status: { allocation, ...forPod } },
      isOwned: true,
      fault: notMade,
    },
    'one for the group of the pod': {
      claim: { metadata: { ownerReferences: [group] }, status: { allocation, ...forGroup } },
      isOwned: true,
      podGroups: true,
      fault: undefined,
    },
    'one for the group of the pod, without the gate': {
      claim: { status: { allocation, ...forGroup } },
      fault: notAllowed,
    },
    'one for another group': {
      claim: { metadata: { ownerReferences: [{ ...group, name: 'other' }] }, status: { allocation, ...forGroup } },
      isOwned: true,
      podGroups: true,
      fault: notMade,
    },
  }
  for (const [name, { claim, isOwned = false, podGroups = false, fault }] of Object.entries(rows))
    test(name, () => {
      const named = { kind: 'claim', podClaim: 'a', name: 'gpu', isOwned } as const
      const known = { ...claim, metadata: { uid: 'c-1', ...claim.metadata } }
      assert.equal(computeClaimFault(pod, named, known, { podGroups }), fault)
    })
})
