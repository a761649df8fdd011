import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import type { PodSpec, PodStatus } from '../../model/generated/core-v1.ts'
import { computeClaimNames } from './compute-claim-names.ts'
import type { ClaimName } from './compute-claim-names.ts'

const rules = { extendedResources: true, podGroups: false }
const claims: PodSpec['resourceClaims'] = [{ name: 'a', resourceClaimTemplateName: 't' }]

describe('computeClaimNames()', () => {
  const rows: readonly (readonly [string, Partial<PodSpec>, PodStatus, readonly ClaimName[]])[] = [
    ['a pod without claims', {}, {}, []],
    [
      'a claim by its name',
      { resourceClaims: [{ name: 'a', resourceClaimName: 'gpu' }] },
      {},
      [{ kind: 'claim', podClaim: 'a', name: 'gpu', isOwned: false }],
    ],
    [
      'a claim from a template, as the status names it',
      { resourceClaims: claims },
      { resourceClaimStatuses: [{ name: 'a', resourceClaimName: 'pod-a-x7' }] },
      [{ kind: 'claim', podClaim: 'a', name: 'pod-a-x7', isOwned: true }],
    ],
    [
      'a claim from a template that no container needs',
      { resourceClaims: claims },
      { resourceClaimStatuses: [{ name: 'a' }] },
      [{ kind: 'none', podClaim: 'a' }],
    ],
    [
      'a claim from a template that is not there yet',
      { resourceClaims: claims },
      { resourceClaimStatuses: [{ name: 'b', resourceClaimName: 'c' }] },
      [{ kind: 'fault', podClaim: 'a', why: 'the ResourceClaim for "a" has not been made yet' }],
    ],
    [
      'a claim of a kind that we do not know',
      { resourceClaims: [{ name: 'a' }] },
      {},
      [
        {
          kind: 'fault',
          podClaim: 'a',
          why: 'spec.resourceClaims "a" names neither a ResourceClaim nor a ResourceClaimTemplate',
        },
      ],
    ],
    [
      'the claim that stands for extended resources',
      {},
      { extendedResourceClaimStatus: { resourceClaimName: 'extended', requestMappings: [] } },
      [{ kind: 'claim', podClaim: undefined, name: 'extended', isOwned: false }],
    ],
  ]
  for (const [name, spec, status, expected] of rows)
    test(name, () => {
      assert.deepEqual(computeClaimNames(createPod({ spec, status }), rules), expected)
    })

  test('extended resources are none of its business without the gate', () => {
    const status = { extendedResourceClaimStatus: { resourceClaimName: 'extended', requestMappings: [] } }
    assert.deepEqual(computeClaimNames(createPod({ status }), { ...rules, extendedResources: false }), [])
  })
})
