import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAmounts } from '../compute-pod-requests.ts'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { computeUnknownResources } from './compute-unknown-resources.ts'

test('computeUnknownResources() names what nothing on the node offers, and nothing else', () => {
  const limits = { cpu: '1', 'x.example/b': '1', 'x.example/a': '2', 'x.example/zero': '0', 'x.example/known': '1' }
  const pod = createPod({ spec: { containers: [createContainer({ resources: { requests: limits, limits } })] } })
  const allocatable = parseAmounts({ cpu: '2', 'x.example/known': '0' })
  assert.deepEqual(computeUnknownResources(pod, allocatable), ['x.example/a', 'x.example/b'])
})
