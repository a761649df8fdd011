import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { PodSpec } from '../../model/generated/core-v1.ts'
import { podReferences } from './pod-references.ts'
import type { PodReferences } from './pod-references.ts'

const key = 'k'

const rows: readonly (readonly [string, Partial<PodSpec>, Partial<PodReferences>])[] = [
  ['nothing', {}, {}],
  [
    'environment of containers',
    {
      containers: [
        createContainer({
          env: [
            { name: 'A', valueFrom: { configMapKeyRef: { name: 'c1', key } } },
            { name: 'B', valueFrom: { secretKeyRef: { name: 's1', key } } },
          ],
          envFrom: [{ configMapRef: { name: 'c2' } }, { secretRef: { name: 's2' } }],
        }),
      ],
    },
    { configMaps: ['c2', 'c1'], secrets: ['s2', 's1'] },
  ],
  [
    'init and ephemeral containers',
    {
      initContainers: [createContainer({ envFrom: [{ configMapRef: { name: 'c1' } }] })],
      ephemeralContainers: [{ name: 'debug', envFrom: [{ secretRef: { name: 's1' } }] }],
    },
    { configMaps: ['c1'], secrets: ['s1'] },
  ],
  [
    'volumes',
    {
      volumes: [
        { name: 'a', configMap: { name: 'c1' } },
        { name: 'b', secret: { secretName: 's1' } },
        {
          name: 'c',
          projected: {
            sources: [
              { configMap: { name: 'c2' } },
              { secret: { name: 's2' } },
              { serviceAccountToken: { path: 'token' } },
            ],
          },
        },
        { name: 'd', csi: { driver: 'x', nodePublishSecretRef: { name: 's3' } } },
        { name: 'e', emptyDir: {} },
      ],
    },
    { configMaps: ['c1', 'c2'], secrets: ['s1', 's2', 's3'] },
  ],
  [
    'image pull secrets, each name once and none that is empty',
    { imagePullSecrets: [{ name: 's1' }, { name: 's1' }, { name: '' }, {}] },
    { secrets: ['s1'] },
  ],
]

describe('podReferences()', () => {
  for (const [name, spec, expected] of rows) {
    test(`finds ${name}`, () => {
      assert.deepEqual(podReferences(createPod({ spec })), { configMaps: [], secrets: [], ...expected })
    })
  }
})
