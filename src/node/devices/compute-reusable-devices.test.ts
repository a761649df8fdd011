import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { computeReusableDevices } from './compute-reusable-devices.ts'

test('computeReusableDevices() has those of init containers that have ended, and that no other container has', () => {
  const named = (name: string, parts: object = {}) => createContainer({ name, ...parts })
  const pod = createPod({
    spec: {
      initContainers: [named('first'), named('beside', { restartPolicy: 'Always' }), named('second')],
      containers: [named('main'), named('other')],
    },
  })
  const held: Readonly<Record<string, string>> = { first: 'ab', beside: 'a', second: 'bc', main: 'b' }
  const reusable = (container: string) =>
    computeReusableDevices(pod, container, (name) => (held[name] ?? '').split('')).join('')
  assert.deepEqual(['first', 'beside', 'second', 'main', 'other'].map(reusable), ['', 'ab', 'b', 'bc', 'c'])
})
