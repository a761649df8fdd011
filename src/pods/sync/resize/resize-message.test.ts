import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { resizeMessage } from './resize-message.ts'

test('resizeMessage() has the resources for tools to read, as the Go kubelet writes them', () => {
  const pod = createPod({
    spec: {
      initContainers: [createContainer({ name: 'proxy' })],
      containers: [
        createContainer({ name: 'main', resources: { requests: { memory: '1Mi', cpu: '1' }, limits: { cpu: '2' } } }),
      ],
    },
  })
  assert.equal(
    resizeMessage('OutOfcpu', { pod, generation: 3, error: 'no room' }),
    'Pod resize OutOfcpu: {"initContainers":[{"name":"proxy","resources":{}}],"containers":[{"name":"main","resources":' +
      '{"limits":{"cpu":"2"},"requests":{"cpu":"1","memory":"1Mi"}}}],"generation":3,"error":"no room"}',
  )
  assert.equal(
    resizeMessage('started', { pod: createPod(), generation: undefined }),
    'Pod resize started: {"containers":[{"name":"main","resources":{}}],"generation":0}',
  )
})
