import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { createPodUsage } from '../../../test/builders/create-stats-snapshot.ts'
import type { PodUse } from '../../../test/builders/create-stats-snapshot.ts'
import type { DiskLayout } from './compute-disk-layout.ts'
import { computeStorageExcess, hasStorageLimits } from './compute-storage-excess.ts'

function podWith(limits: Readonly<Record<string, string>> | undefined, sizeLimit?: string) {
  return createPod({
    spec: {
      containers: [createContainer(limits && { resources: { limits } })],
      ...(sizeLimit !== undefined && { volumes: [{ name: 'data', emptyDir: { sizeLimit } }] }),
    },
  })
}

const STORAGE = { 'ephemeral-storage': '100Mi' }

describe('computeStorageExcess()', () => {
  const rows: readonly [string, ReturnType<typeof podWith>, Omit<PodUse, 'uid'>, DiskLayout, string | undefined][] = [
    ['nothing is limited', podWith(undefined), { rootfs: 900, volumes: { data: 900 } }, 'shared', undefined],
    ['a volume that is just full', podWith(undefined, '10Mi'), { volumes: { data: 10 } }, 'shared', undefined],
    [
      'a volume that is too large',
      podWith(undefined, '10Mi'),
      { volumes: { data: 10.5 } },
      'shared',
      'emptydirfs.limit Usage of EmptyDir volume "data" exceeds the limit "10Mi". ',
    ],
    ['a volume without a size', podWith(undefined, '0'), { volumes: { data: 900 } }, 'shared', undefined],
    ['a volume that is not measured yet', podWith(undefined, '10Mi'), {}, 'shared', undefined],
    [
      'all that a pod takes together',
      podWith(STORAGE),
      { logs: 30, rootfs: 30, own: 11, volumes: { data: 30 } },
      'shared',
      'ephemeralpodfs.limit Pod ephemeral local storage usage exceeds the total limit of containers 100Mi. ',
    ],
    ['a pod at its limit', podWith(STORAGE), { logs: 50, rootfs: 50 }, 'separate', undefined],
  ]
  for (const [name, pod, use, layout, expected] of rows)
    test(name, () => {
      const excess = computeStorageExcess(pod, createPodUsage({ uid: 'u-1', ...use }), layout)
      assert.equal(excess && `${excess.signal} ${excess.message}`, expected)
    })

  test('one container of several; its layer counts where it is on the disk of the node', () => {
    const other = createContainer({ name: 'other', resources: { limits: { 'ephemeral-storage': '1Gi' } } })
    const { spec } = podWith(STORAGE)
    const pod = createPod({ spec: { ...spec, containers: [...spec.containers, other] } })
    const stats = createPodUsage({ uid: 'u-1', logs: 60, rootfs: 60 })
    const message = 'Container main exceeded its local ephemeral storage limit "100Mi". '
    assert.deepEqual(computeStorageExcess(pod, stats, 'shared'), { signal: 'ephemeralcontainerfs.limit', message })
    assert.equal(computeStorageExcess(pod, stats, 'separate'), undefined)
    const [container] = stats.containers
    const containers = container && [{ ...container, messages: { bytes: 45 * 2 ** 20, inodes: 1 } }]
    const talking = computeStorageExcess(pod, { ...stats, containers: containers ?? [] }, 'separate')
    assert.deepEqual(talking, { signal: 'ephemeralcontainerfs.limit', message })
  })

  test('says whether there is anything to measure', () => {
    assert.equal(hasStorageLimits(podWith({ memory: '1Gi' })), false)
    assert.equal(hasStorageLimits(podWith(STORAGE)), true)
    assert.equal(hasStorageLimits(podWith(undefined, '1Mi')), true)
  })
})
