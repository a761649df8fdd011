import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '../../model/generated/core-v1.ts'
import { computeStorageView } from './compute-storage-view.ts'
import type { StorageInput } from './compute-storage-view.ts'

const web: Pod = {
  metadata: { namespace: 'shop', name: 'web' },
  spec: {
    containers: [{ name: 'main', image: 'web:1' }],
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'scratch', ephemeral: {} },
    ],
  },
  status: {
    containerStatuses: [
      {
        name: 'main',
        image: 'docker.io/library/web:1',
        imageID: 'docker.io/library/web@sha256:aa',
        ready: true,
        restartCount: 0,
      },
    ],
  },
}
const input: StorageInput = {
  images: undefined,
  nodeImages: [],
  pods: [web],
  claims: [],
  volumes: [],
  summary: undefined,
  isOneOfMany: false,
}
const image = { id: 'sha256:1', names: ['docker.io/library/web@sha256:aa', 'docker.io/library/web:1'], sizeBytes: 5 }

describe('computeStorageView()', () => {
  test('images of the agent: the largest first, tags before digests, with the pods that use them', () => {
    const view = computeStorageView({
      ...input,
      images: [
        { ...image, pinned: false, inUse: true, firstSeenAt: 7 },
        { id: 'sha256:2', names: ['old:1'], sizeBytes: 100, pinned: false, inUse: false, firstSeenAt: 8 },
        { id: 'sha256:3', names: ['pause:1'], sizeBytes: 1, pinned: true, inUse: false, firstSeenAt: 9 },
      ],
    })
    assert.deepEqual(
      view.images.map(({ names, pods, isUsed }) => [names[0], pods, isUsed]),
      [
        ['old:1', [], false],
        ['docker.io/library/web:1', ['shop/web'], true],
        ['pause:1', [], false],
      ],
    )
    assert.deepEqual([view.imageBytes, view.reclaimableBytes, view.images[1]?.firstSeenAt], [106, 100, 7])
  })

  test('without an agent that lists them: those of the object of the node', () => {
    const { images, reclaimableBytes } = computeStorageView({
      ...input,
      nodeImages: [
        { names: image.names, sizeBytes: 5 },
        { names: ['b'], sizeBytes: 9 },
      ],
    })
    assert.deepEqual(
      images.map(({ sizeBytes, pods }) => [sizeBytes, pods]),
      [
        [9, []],
        [5, ['shop/web']],
      ],
    )
    assert.equal(reclaimableBytes, 9)
  })

  test('claims with what they take, their volume and their pods; also those that a pod makes', () => {
    const claim = (name: string) => ({
      metadata: { namespace: 'shop', name },
      spec: { volumeName: `pv-${name}`, storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
      status: { phase: 'Bound', capacity: { storage: '2Gi' } },
    })
    const claims = [claim('data'), claim('web-scratch'), claim('lonely')]
    const volumes = claims.map(({ metadata: { namespace, name } }) => ({
      metadata: { name: `pv-${name}` },
      spec: { capacity: { storage: '2Gi' }, claimRef: { namespace, name }, hostPath: { path: `/data/${name}` } },
      status: { phase: 'Bound' },
    }))
    const pvcRef = { namespace: 'shop', name: 'data' }
    const summary = {
      pods: [{ podRef: { uid: 'u' }, volume: [{ name: 'data', usedBytes: 3, capacityBytes: 9, pvcRef }] }],
    }
    const all = computeStorageView({ ...input, claims, volumes, summary })
    assert.deepEqual(
      all.claims.map(({ name, pods, use }) => [name, pods, use?.usedBytes]),
      [
        ['data', ['shop/web'], 3],
        ['lonely', [], undefined],
        ['web-scratch', ['shop/web'], undefined],
      ],
    )
    assert.deepEqual(
      [all.volumes[0]?.claim, all.volumes[0]?.source, all.claims[0]?.capacity],
      ['shop/data', 'hostPath /data/data', '2Gi'],
    )
    const own = computeStorageView({ ...input, claims, volumes, summary, isOneOfMany: true })
    assert.deepEqual(
      [own.claims.map(({ name }) => name), own.volumes.map(({ name }) => name)],
      [
        ['data', 'web-scratch'],
        ['pv-data', 'pv-web-scratch'],
      ],
    )
  })

  test('one disk for all is one row', () => {
    const disk = { capacityBytes: 100, availableBytes: 40 }
    const { disks } = computeStorageView({
      ...input,
      summary: { node: { fs: disk, runtime: { imageFs: disk, containerFs: { ...disk, capacityBytes: 7 } } } },
    })
    assert.deepEqual(
      disks.map(({ name, capacityBytes }) => [name, capacityBytes]),
      [
        ['Pods, volumes and logs, images', 100],
        ['Layers of containers', 7],
      ],
    )
  })
})
