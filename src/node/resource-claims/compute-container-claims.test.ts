import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { ClaimDevice, ClaimRecord } from './claim-record.ts'
import { computeContainerClaims, computeRequestDevices } from './compute-container-claims.ts'

const rules = { extendedResources: true, podGroups: false }
const pod = createPod({
  spec: {
    resourceClaims: [
      { name: 'gpu', resourceClaimName: 'gpu-1' },
      { name: 'made', resourceClaimTemplateName: 't' },
      { name: 'unneeded', resourceClaimTemplateName: 't' },
    ],
  },
  status: {
    resourceClaimStatuses: [{ name: 'made', resourceClaimName: 'made-x' }, { name: 'unneeded' }],
    extendedResourceClaimStatus: {
      resourceClaimName: 'extended',
      requestMappings: [
        { containerName: 'main', resourceName: 'a.example/gpu', requestName: 'container-0-request-0' },
        { containerName: 'main', resourceName: 'deviceclass.resource.kubernetes.io/nic', requestName: 'nic' },
        { containerName: 'other', resourceName: 'a.example/gpu', requestName: 'container-1-request-0' },
      ],
    },
  },
})

describe('computeContainerClaims()', () => {
  test('a container uses what it names, and of that the requests that it names', () => {
    const claims = [{ name: 'made' }, { name: 'gpu', request: 'one' }, { name: 'gpu', request: 'two' }]
    assert.deepEqual(computeContainerClaims(pod, createContainer({ resources: { claims } }), rules), [
      { name: 'gpu-1', requests: ['one', 'two'] },
      { name: 'made-x', requests: [''] },
    ])
  })

  test('one that names none, or one that no container needs, uses none', () => {
    assert.deepEqual(computeContainerClaims(pod, createContainer(), rules), [])
    const container = createContainer({ resources: { claims: [{ name: 'unneeded' }] } })
    assert.deepEqual(computeContainerClaims(pod, container, rules), [])
  })

  test('extended resources that it asks for come from the claim that was made for them', () => {
    const requests = { 'a.example/gpu': '1', 'deviceclass.resource.kubernetes.io/nic': '1', cpu: '1' }
    assert.deepEqual(computeContainerClaims(pod, createContainer({ resources: { requests } }), rules), [
      { name: 'extended', requests: ['container-0-request-0', 'nic'] },
    ])
    const nothing = createContainer({ resources: { requests: { 'a.example/gpu': '0' } } })
    assert.deepEqual(computeContainerClaims(pod, nothing, rules), [])
  })
})

describe('computeRequestDevices()', () => {
  const device = (deviceName: string, ...requestNames: string[]): ClaimDevice => ({
    poolName: 'pool',
    deviceName,
    shareId: undefined,
    requestNames,
    cdiDeviceIds: [],
  })
  const record: ClaimRecord = {
    uid: 'c-1',
    namespace: 'shop',
    name: 'gpu-1',
    podUids: new Set(),
    drivers: new Map([
      ['b.example', [device('for all')]],
      ['a.example', [device('first', 'one'), device('both', 'one', 'two')]],
    ]),
    isPrepared: true,
  }
  const rows: readonly (readonly [readonly string[], readonly string[]])[] = [
    [[''], ['first', 'both', 'for all']],
    [['one'], ['first', 'both', 'for all']],
    [['two'], ['both', 'for all']],
    [['two/small'], ['both', 'for all']],
    [
      ['one', 'two'],
      ['first', 'both', 'for all'],
    ],
    [['three'], ['for all']],
  ]
  for (const [requests, expected] of rows)
    test(`serving ${requests.map((request) => `"${request}"`).join(' and ')}`, () => {
      assert.deepEqual(
        computeRequestDevices(record, requests).map(({ deviceName }) => deviceName),
        expected,
      )
    })
})
