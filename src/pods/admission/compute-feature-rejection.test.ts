import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { PodSpec } from '../../model/generated/core-v1.ts'
import { computeFeatureRejection } from './compute-feature-rejection.ts'
import type { FeatureInfo } from './compute-feature-rejection.ts'

const restarting = createContainer({ restartPolicyRules: [{ action: 'RestartAllContainers' }] })
const unavailable = 'Pod requires node features that are not available:'

describe('computeFeatureRejection()', () => {
  const rows: readonly (readonly [string, Partial<PodSpec>, Partial<FeatureInfo>, string | undefined])[] = [
    ['a plain pod', {}, { declaredFeatures: [] }, undefined],
    ['resources of the pod', { resources: { requests: { cpu: '1' } } }, {}, undefined],
    [
      'resources of the pod, switched off',
      { resources: { requests: { cpu: '1' } } },
      { podLevelResources: false },
      'PodLevelResourcesNotSupported: PodLevelResources feature gate is disabled',
    ],
    ['restarts of all where nothing is declared', { containers: [restarting] }, {}, undefined],
    [
      'restarts of all where they are declared',
      { initContainers: [restarting] },
      { declaredFeatures: ['RestartAllContainersOnContainerExits'] },
      undefined,
    ],
    [
      'all that is missing',
      { containers: [restarting], hostNetwork: true, hostUsers: false },
      { declaredFeatures: [] },
      `PodFeatureUnsupported: ${unavailable} RestartAllContainersOnContainerExits, UserNamespacesHostNetworkSupport`,
    ],
  ]
  for (const [name, spec, info, expected] of rows) {
    test(name, () => {
      const found = computeFeatureRejection(createPod({ spec }), {
        podLevelResources: true,
        declaredFeatures: undefined,
        ...info,
      })
      assert.equal(found === undefined ? undefined : `${found.reason}: ${found.message}`, expected)
    })
  }
})
