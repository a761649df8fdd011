import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { resolveFeatureGates } from '../../model/config/gates/feature-gates.ts'
import type { PodSpec } from '../../model/generated/core-v1.ts'
import { computeEnabledFields } from './compute-enabled-fields.ts'

const all = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }
const one = { action: 'Restart', exitCodes: { operator: 'In', values: [2] } }
const fileKeyRef = { volumeName: 'v', path: 'p', key: 'k' }

const rows: readonly [off: string, given: Partial<PodSpec>, kept: Partial<PodSpec>, ignored: readonly string[]][] = [
  [
    'ContainerRestartRules',
    {
      initContainers: [
        createContainer({ name: 'sidecar', restartPolicy: 'Always', restartPolicyRules: [one] }),
        createContainer({ name: 'init', restartPolicy: 'OnFailure' }),
      ],
      containers: [createContainer({ restartPolicy: 'Always' })],
    },
    {
      initContainers: [
        createContainer({ name: 'sidecar', restartPolicy: 'Always', restartPolicyRules: undefined }),
        createContainer({ name: 'init', restartPolicy: undefined, restartPolicyRules: undefined }),
      ],
      containers: [createContainer({ restartPolicy: undefined, restartPolicyRules: undefined })],
    },
    [
      'spec.initContainers[1].restartPolicy',
      'spec.containers[0].restartPolicy',
      'spec.initContainers[0].restartPolicyRules',
    ],
  ],
  [
    'RestartAllContainersOnContainerExits',
    { containers: [createContainer({ restartPolicy: 'Never', restartPolicyRules: [all, one] })] },
    { containers: [createContainer({ restartPolicy: 'Never', restartPolicyRules: [one] })] },
    ['spec.containers[0].restartPolicyRules'],
  ],
  [
    'EnvFiles',
    {
      containers: [
        createContainer({
          env: [
            { name: 'A', valueFrom: { fileKeyRef } },
            { name: 'B', value: 'b' },
          ],
        }),
      ],
    },
    { containers: [createContainer({ env: [{ name: 'A' }, { name: 'B', value: 'b' }] })] },
    ['spec.containers[0].env'],
  ],
  ['HostnameOverride', { hostnameOverride: 'db' }, { hostnameOverride: undefined }, ['spec.hostnameOverride']],
]

describe('computeEnabledFields()', () => {
  for (const [gate, given, kept, ignored] of rows) {
    const pod = createPod({ spec: given })
    test(`leaves out what ${gate} gives, and names it`, () => {
      const { gates } = resolveFeatureGates({ [gate]: false })
      const result = computeEnabledFields(pod, gates)
      assert.deepEqual(result.pod, createPod({ spec: kept }))
      assert.deepEqual(
        result.ignored,
        ignored.map((path) => ({ path, gate })),
      )
    })

    test(`leaves it in while ${gate} is on`, () => {
      assert.equal(computeEnabledFields(pod, resolveFeatureGates({}).gates).pod, pod)
    })
  }

  test('a pod that asks for nothing of it is the same object', () => {
    const pod = createPod()
    const off = Object.fromEntries(rows.map(([gate]) => [gate, false]))
    assert.equal(computeEnabledFields(pod, resolveFeatureGates(off).gates).pod, pod)
  })
})
