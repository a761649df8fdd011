import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, PodSpec, Volume } from '../generated/core-v1.ts'
import { findApiReferences } from './static-pod-references.ts'

function withVolume(source: Omit<Volume, 'name'>): Partial<PodSpec> {
  return { volumes: [{ name: 'v', ...source }] }
}

function withContainer(fields: Partial<Container>): Partial<PodSpec> {
  return { initContainers: [{ name: 'c', ...fields }] }
}

test('findApiReferences() finds what a pod needs of the API', () => {
  const rows: readonly (readonly [Partial<PodSpec>, string | undefined])[] = [
    [{}, undefined],
    [{ serviceAccountName: 'x' }, 'spec.serviceAccountName: serviceaccounts'],
    [{ imagePullSecrets: [{ name: 'x' }] }, 'spec.imagePullSecrets: secrets'],
    [{ resourceClaims: [{ name: 'x' }] }, 'spec.resourceClaims: resourceclaims'],
    [
      withContainer({ envFrom: [{ secretRef: { name: 'x' } }] }),
      'spec.initContainers[0].envFrom[0].secretRef: secrets',
    ],
    [
      withContainer({ envFrom: [{ configMapRef: { name: 'x' } }] }),
      'spec.initContainers[0].envFrom[0].configMapRef: configmaps',
    ],
    [
      withContainer({ env: [{ name: 'A', valueFrom: { secretKeyRef: { key: 'k' } } }] }),
      'spec.initContainers[0].env[0].valueFrom.secretKeyRef: secrets',
    ],
    [
      withContainer({ env: [{ name: 'A', valueFrom: { configMapKeyRef: { key: 'k' } } }] }),
      'spec.initContainers[0].env[0].valueFrom.configMapKeyRef: configmaps',
    ],
    [withContainer({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }), undefined],
    [withVolume({ emptyDir: {} }), undefined],
    [withVolume({ hostPath: { path: '/x' } }), undefined],
    [withVolume({ downwardAPI: {} }), undefined],
    [withVolume({ secret: {} }), 'spec.volumes[0].secret: secrets'],
    [withVolume({ configMap: {} }), 'spec.volumes[0].configMap: configmaps'],
    [withVolume({ csi: { driver: 'd' } }), 'spec.volumes[0].csi: csidrivers'],
    [
      withVolume({ persistentVolumeClaim: { claimName: 'c' } }),
      'spec.volumes[0].persistentVolumeClaim: persistentvolumeclaims',
    ],
    [withVolume({ ephemeral: {} }), 'spec.volumes[0].ephemeral: persistentvolumeclaims'],
    [
      withVolume({ rbd: { image: 'i', monitors: [], secretRef: { name: 's' } } }),
      'spec.volumes[0].rbd.secretRef: secrets',
    ],
    [withVolume({ projected: { sources: [{ downwardAPI: {} }] } }), undefined],
    [
      withVolume({ projected: { sources: [{ serviceAccountToken: { path: 'p' } }] } }),
      'spec.volumes[0].projected.sources[0].serviceAccountToken: serviceaccounts',
    ],
  ]
  for (const [spec, expected] of rows) {
    const found = findApiReferences({ containers: [], ...spec }).map(
      ({ path, rule }) => `${path.toString()}: ${rule.replace('Forbidden: static pods may not reference ', '')}`,
    )
    assert.deepEqual(found, expected === undefined ? [] : [expected])
  }
})
