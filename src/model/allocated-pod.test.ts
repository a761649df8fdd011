import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContainer, createPod } from '../../test/builders/create-pod.ts'
import { toAllocatedPod } from './allocated-pod.ts'

test('toAllocatedPod() gives containers what they were made with, and the rest what the spec says', () => {
  const wanted = { requests: { cpu: '2' } }
  const pod = createPod({
    spec: {
      initContainers: [createContainer({ name: 'i', resources: wanted })],
      containers: ['a', 'b'].map((name) => createContainer({ name, resources: wanted })),
    },
  })
  const { spec } = toAllocatedPod(
    pod,
    new Map([
      ['i', undefined],
      ['a', { requests: { cpu: '1' } }],
    ]),
  )
  assert.deepEqual(
    [...(spec.initContainers ?? []), ...spec.containers].map(({ resources }) => resources?.requests?.['cpu']),
    [undefined, '1', '2'],
  )
})
