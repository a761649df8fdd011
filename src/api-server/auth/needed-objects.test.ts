import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findNeededObjects, volumeNeedsSecret } from './needed-objects.ts'

describe('findNeededObjects()', () => {
  test('finds every place where a pod can name something', () => {
    const environment = (mark: string) => ({
      name: mark,
      env: [
        { name: 'A', valueFrom: { secretKeyRef: { name: `${mark}-key-secret`, key: 'k' } } },
        { name: 'B', valueFrom: { configMapKeyRef: { name: `${mark}-key-map`, key: 'k' } } },
      ],
      envFrom: [{ secretRef: { name: `${mark}-secret` } }, { configMapRef: { name: `${mark}-map` } }],
    })
    const secretRef = (name: string) => ({ secretRef: { name } })
    const found = findNeededObjects({
      metadata: { name: 'web' },
      spec: {
        imagePullSecrets: [{ name: 'pull' }],
        initContainers: [environment('init')],
        containers: [environment('main')],
        ephemeralContainers: [environment('debug')],
        volumes: [
          { name: 'a', secret: { secretName: 'v-secret' } },
          { name: 'b', configMap: { name: 'v-map' } },
          { name: 'c', projected: { sources: [{ secret: { name: 'p-secret' } }, { configMap: { name: 'p-map' } }] } },
          { name: 'd', csi: { driver: 'x', nodePublishSecretRef: { name: 'csi' } } },
          { name: 'e', persistentVolumeClaim: { claimName: 'claim' } },
          { name: 'f', ephemeral: {} },
          { name: 'g', azureFile: { secretName: 'azure', shareName: 's' } },
          { name: 'h', rbd: { image: 'i', monitors: [], ...secretRef('rbd') } },
          { name: 'i', iscsi: { iqn: 'i', lun: 0, targetPortal: 't', ...secretRef('iscsi') } },
          { name: 'j', flexVolume: { driver: 'd', ...secretRef('flex') } },
          { name: 'k', cephfs: { monitors: [], ...secretRef('ceph') } },
        ],
        resourceClaims: [
          { name: 'a', resourceClaimName: 'devices' },
          { name: 'b', resourceClaimTemplateName: 'template' },
        ],
      },
      status: {
        resourceClaimStatuses: [{ name: 'b', resourceClaimName: 'made-devices' }, { name: 'c' }],
        extendedResourceClaimStatus: { resourceClaimName: 'extended-devices', requestMappings: [] },
      },
    })
    const sorted = (names: ReadonlySet<string>) => [...names].toSorted()
    const { secrets, configMaps, claims, resourceClaims } = found
    const texts = {
      secrets: sorted(secrets),
      configMaps: sorted(configMaps),
      claims: sorted(claims),
      resourceClaims: sorted(resourceClaims),
    }
    assert.deepEqual(texts, {
      secrets: [
        'azure',
        'ceph',
        'csi',
        'debug-key-secret',
        'debug-secret',
        'flex',
        'init-key-secret',
        'init-secret',
        'iscsi',
        'main-key-secret',
        'main-secret',
        'p-secret',
        'pull',
        'rbd',
        'v-secret',
      ],
      configMaps: [
        'debug-key-map',
        'debug-map',
        'init-key-map',
        'init-map',
        'main-key-map',
        'main-map',
        'p-map',
        'v-map',
      ],
      claims: ['claim', 'web-f'],
      resourceClaims: ['devices', 'extended-devices', 'made-devices'],
    })
  })
})

describe('volumeNeedsSecret()', () => {
  test('takes the namespace of the reference, or else of the claim', () => {
    const claimRef = { namespace: 'shop', name: 'c' }
    const own = { spec: { claimRef, csi: { driver: 'd', volumeHandle: 'h', nodeStageSecretRef: { name: 's' } } } }
    const far = {
      spec: {
        claimRef,
        csi: { driver: 'd', volumeHandle: 'h', nodePublishSecretRef: { name: 's', namespace: 'vault' } },
      },
    }
    const asked = [own, far].flatMap((volume) =>
      ['shop', 'vault'].map((namespace) => volumeNeedsSecret(volume, namespace, 's')),
    )
    assert.deepEqual(asked, [true, false, false, true])
  })
})
