import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { ResourceRequirements } from '../../model/generated/core-v1.ts'
import type { PodAllocation } from '../../model/resources/pod-allocation.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { AllocationTextError, formatAllocations, parseAllocations } from './allocation-state-file.ts'

// As a Go kubelet of 1.36 wrote them.
const PLAIN = {
  uid: 'fb38dbf81f84747de487978d64fae9bc',
  text: String.raw`{"data":"{\"entries\":{\"fb38dbf81f84747de487978d64fae9bc\":{\"ContainerResources\":{\"c\":{}},\"PodLevelResources\":null}}}","checksum":2354566887}`,
}

const rows: Readonly<Record<string, string>> = {
  'is cut off': PLAIN.text.slice(0, 60),
  'is empty': '',
  'is no object': '[]',
  'has another checksum': PLAIN.text.replace('2354566887', '2354566888'),
  'was changed by hand': PLAIN.text.replace('{}}', '{\\"limits\\":{}}}'),
  'has no data': '{"checksum":0}',
  'has data that is no JSON': '{"data":"{","checksum":0}',
  'has a pod that is none': '{"data":"{\\"entries\\":{\\"../x\\":{}}}","checksum":0}',
  'has an amount that is none': String.raw`{"data":"{\"entries\":{\"u\":{\"ContainerResources\":{\"c\":{\"limits\":{\"cpu\":\"much\"}}}}}}","checksum":0}`,
}

describe('the text of allocated_pods_state and actuated_pods_state', () => {
  test('is that of the Go kubelet', () => {
    const allocation: PodAllocation = { containers: new Map([['c', {}]]), pod: undefined }
    const allocations = new Map([[parsePodUid(PLAIN.uid), allocation]])
    assert.equal(formatAllocations(allocations), PLAIN.text)
    assert.deepEqual(parseAllocations(PLAIN.text), allocations)
  })

  test('has amounts in their shortest form, and names in order', () => {
    const resources = { requests: { memory: '65536Ki', cpu: '0.5' }, limits: { cpu: '1000m' } }
    const allocation: PodAllocation = {
      containers: new Map<string, ResourceRequirements>([
        ['b', {}],
        ['a', resources],
      ]),
      pod: resources,
    }
    const { data } = JSON.parse(formatAllocations(new Map([[parsePodUid('u'), allocation]]))) as { data: string }
    const written = '{"limits":{"cpu":"1"},"requests":{"cpu":"500m","memory":"64Mi"}}'
    assert.equal(
      data,
      `{"entries":{"u":{"ContainerResources":{"a":${written},"b":{}},"PodLevelResources":${written}}}}`,
    )
  })

  test('of no pods has no entries', () => {
    assert.match(formatAllocations(new Map()), /^\{"data":"\{\}",/)
  })

  test('is taken without a check when its checksum is 0', () => {
    assert.equal(parseAllocations(PLAIN.text.replace('2354566887', '0')).size, 1)
  })

  for (const [name, text] of Object.entries(rows)) {
    test(`that ${name} is rejected`, () => {
      assert.throws(() => parseAllocations(text), AllocationTextError)
    })
  }

  test('is read as it was written, whatever pods have', () => {
    const name = fc.stringMatching(/^[a-z0-9]{1,8}$/)
    const amounts = fc.dictionary(
      fc.constantFrom('cpu', 'memory', 'example.com/x'),
      fc.constantFrom('1', '500m', '64Mi'),
      {
        noNullPrototype: true,
      },
    )
    const resources = fc.record({ limits: amounts, requests: amounts }).map(({ limits, requests }) => ({
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
      ...(Object.keys(requests).length === 0 ? {} : { requests }),
    }))
    const containers = fc.array(fc.tuple(name, resources)).map((entries) => new Map(entries))
    const pod = fc.option(resources, { nil: undefined })
    const allocation = fc.tuple(containers, pod).map(([named, whole]) => ({ containers: named, pod: whole }))
    const allocations = fc.array(fc.tuple(name.map(parsePodUid), allocation)).map((entries) => new Map(entries))
    fc.assert(fc.property(allocations, (all) => assert.deepEqual(parseAllocations(formatAllocations(all)), all)))
  })
})
