import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { resolveFeatureGates } from '../../model/config/gates/feature-gates.ts'
import type { PodUpdate } from '../../model/pod/pod-update.ts'
import { deliverPods } from './deliver-pods.ts'

test('deliverPods() hands pods to the workers without what is switched off, and says so once, of a new pod', () => {
  const done: string[] = []
  const { gates } = resolveFeatureGates({ ContainerRestartRules: false })
  const pod = createPod({
    metadata: { uid: 'a' },
    spec: { containers: [createContainer({ restartPolicy: 'Always' }), createContainer({ name: 'second' })] },
  })
  const deliver = (operation: PodUpdate['operation']) =>
    deliverPods(
      { operation, source: 'file', pods: [pod] },
      {
        gates,
        workers: {
          handle: ({ pods }) => void done.push(`${operation} ${pods[0]?.spec.containers[0]?.restartPolicy}`),
        },
        metrics: { podSeen: (containers) => void done.push(`${containers} containers`) },
        changes: { changed: (uid) => void done.push(`changed ${uid}`) },
        events: { record: (_, { reason, message }) => void done.push(`${reason} ${message}`) },
      },
    )
  deliver('ADD')
  deliver('UPDATE')
  assert.deepEqual(done, [
    'UnsupportedField Ignored spec.containers[0].restartPolicy: the feature gate ContainerRestartRules is off',
    '2 containers',
    'ADD undefined',
    'changed a',
    'UPDATE undefined',
    'changed a',
  ])
})
