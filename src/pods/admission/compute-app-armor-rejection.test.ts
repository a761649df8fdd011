import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { PodParts } from '../../../test/builders/create-pod.ts'
import { computeAppArmorRejection } from './compute-app-armor-rejection.ts'

const confined = { appArmorProfile: { type: 'RuntimeDefault' } }
const annotation = (value: string) => ({
  annotations: { 'container.apparmor.security.beta.kubernetes.io/main': value },
})

describe('computeAppArmorRejection()', () => {
  const rows: readonly (readonly [name: string, pod: PodParts, isRefused: boolean])[] = [
    ['a pod that does not ask', {}, false],
    ['a pod that asks', { spec: { securityContext: confined } }, true],
    ['a container that asks', { spec: { containers: [createContainer({ securityContext: confined })] } }, true],
    [
      'a container that asks for none',
      { spec: { containers: [createContainer({ securityContext: { appArmorProfile: { type: 'Unconfined' } } })] } },
      false,
    ],
    ['the old annotation', { metadata: annotation('localhost/strict') }, true],
    ['the old annotation for none', { metadata: annotation('unconfined') }, false],
    ['a pod that runs already', { spec: { securityContext: confined }, status: { phase: 'Running' } }, false],
    ['a pod that is pending', { spec: { securityContext: confined }, status: { phase: 'Pending' } }, true],
  ]
  for (const [name, parts, isRefused] of rows) {
    test(`${name} on a node without`, () => {
      assert.deepEqual(
        computeAppArmorRejection(createPod(parts), { appArmor: false }),
        isRefused
          ? { reason: 'AppArmor', message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' }
          : undefined,
      )
    })
  }

  test('no pod is rejected on a node that has it', () => {
    const pod = createPod({ spec: { securityContext: confined } })
    assert.equal(computeAppArmorRejection(pod, { appArmor: true }), undefined)
  })
})
