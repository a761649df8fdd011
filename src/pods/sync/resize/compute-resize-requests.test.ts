import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { ResourceRequirements } from '../../../model/generated/core-v1.ts'
import { computeResizeRequests } from './compute-resize-requests.ts'

const scope = { initContainers: false, podLevel: true }
const create = (main: ResourceRequirements, prepare: ResourceRequirements = {}, resources?: ResourceRequirements) =>
  createPod({
    spec: {
      initContainers: [createContainer({ name: 'prepare', resources: prepare })],
      containers: [createContainer({ name: 'main', resources: main })],
      ...(resources && { resources }),
    },
  })

test('computeResizeRequests() says what is to happen to each amount', () => {
  const before = create({ requests: { cpu: '1', memory: '1Mi' }, limits: { cpu: '2' } }, { limits: { cpu: '1' } })
  const after = create({ requests: { cpu: '500m' }, limits: { cpu: '3', memory: '1Mi' } }, { limits: { cpu: '2' } })
  assert.deepEqual(computeResizeRequests(before, after, scope), {
    requests: [
      { resource: 'memory', requirement: 'requests', operation: 'remove' },
      { resource: 'memory', requirement: 'limits', operation: 'add' },
      { resource: 'cpu', requirement: 'requests', operation: 'decrease' },
      { resource: 'cpu', requirement: 'limits', operation: 'increase' },
    ],
    resizes: true,
  })
})

test('computeResizeRequests() counts nothing for the whole pod, which is resized all the same', () => {
  const [before, after] = [create({}, {}, { limits: { cpu: '1' } }), create({}, {}, { limits: { cpu: '2' } })]
  assert.deepEqual(computeResizeRequests(before, after, scope), { requests: [], resizes: true })
  assert.deepEqual(computeResizeRequests(before, after, { ...scope, podLevel: false }), {
    requests: [],
    resizes: false,
  })
  assert.deepEqual(computeResizeRequests(before, before, scope), { requests: [], resizes: false })
})
