import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { PodSpec } from '../generated/core-v1.ts'
import { featuresToRun, featuresToUpdate } from './required-features.ts'

const [one, two] = [{ requests: { cpu: '1' } }, { requests: { cpu: '2' } }]
const POD_LEVEL = 'InPlacePodLevelResourcesVerticalScaling'
const INIT = 'InPlacePodVerticalScalingInitContainers'

test('featuresToRun() names what the pod needs', () => {
  const restarting = createContainer({ restartPolicyRules: [{ action: 'RestartAllContainers' }] })
  const spec = { containers: [restarting], hostNetwork: true, hostUsers: false }
  assert.deepEqual(featuresToRun(createPod({ spec })), [
    'RestartAllContainersOnContainerExits',
    'UserNamespacesHostNetworkSupport',
  ])
  assert.deepEqual(featuresToRun(createPod()), [])
})

describe('featuresToUpdate()', () => {
  const rows: readonly (readonly [string, Partial<PodSpec>, Partial<PodSpec>, readonly string[]])[] = [
    ['nothing changes', { resources: one }, { resources: one }, []],
    ['the same written otherwise', { resources: one }, { resources: { requests: { cpu: '1000m' } } }, []],
    ['resources of the pod', { resources: one }, { resources: two }, [POD_LEVEL]],
    ['resources of the pod for the first time', {}, { resources: two }, [POD_LEVEL]],
    [
      'resources of a container',
      { containers: [createContainer({ resources: one })] },
      { containers: [createContainer({ resources: two })] },
      [],
    ],
    [
      'resources of an init container',
      { initContainers: [createContainer({ resources: one })] },
      { initContainers: [createContainer({ resources: two })] },
      [INIT],
    ],
    [
      'resources of a sidecar',
      { initContainers: [createContainer({ resources: one, restartPolicy: 'Always' })] },
      { initContainers: [createContainer({ resources: two, restartPolicy: 'Always' })] },
      [],
    ],
  ]
  for (const [name, before, after, expected] of rows)
    test(name, () =>
      assert.deepEqual(featuresToUpdate(createPod({ spec: before }), createPod({ spec: after })), expected),
    )
})
