import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { withoutClaimed } from './without-claimed.ts'

const requests = { cpu: '1', 'a.example/gpu': '1', 'a.example/nic': '2' }
const spec = {
  initContainers: [createContainer({ name: 'init', resources: { requests } })],
  containers: [createContainer({ resources: { requests, limits: requests } }), createContainer({ name: 'plain' })],
}
const status = {
  extendedResourceClaimStatus: {
    resourceClaimName: 'extended',
    requestMappings: [{ containerName: 'main', resourceName: 'a.example/gpu', requestName: 'r' }],
  },
}

test('withoutClaimed() leaves out what a container gets from a claim, and nothing else', () => {
  const pod = createPod({ spec, status })
  const { 'a.example/gpu': _, ...left } = requests
  const [main, plain] = spec.containers
  assert.deepEqual(withoutClaimed(pod).spec, {
    ...pod.spec,
    containers: [{ ...main, resources: { requests: left, limits: requests } }, plain],
  })
})

test('withoutClaimed() leaves a pod without such a claim as it is', () => {
  const pod = createPod({ spec })
  assert.equal(withoutClaimed(pod), pod)
})
