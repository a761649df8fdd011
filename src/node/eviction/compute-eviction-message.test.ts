import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { createPodUsage, createStatsSnapshot } from '../../../test/builders/create-stats-snapshot.ts'
import { parseQuantity } from '../../model/resources/quantity.ts'
import { computeEvictionMessage } from './compute-eviction-message.ts'
import { computeObservations } from './compute-observations.ts'
import type { ObservedSignal, StarvedResource } from './observed-signal.ts'

function reasonOf(resource: StarvedResource, signal: ObservedSignal, text: string) {
  const observations = computeObservations(createStatsSnapshot({ memoryLeft: 90, diskLeft: 40, inodesFree: 3 }).node)
  const value = { kind: 'amount', quantity: parseQuantity(text) } as const
  return { resource, due: [{ signal, value, minReclaim: undefined, graceMs: 0 }], observations }
}

describe('computeEvictionMessage()', () => {
  const asking = createPod({
    spec: { containers: [createContainer({ resources: { requests: { memory: '1Gi' } } })] },
  })

  test('blames containers that use more than they asked for', () => {
    const stats = createPodUsage({ uid: 'u-1', memory: 2048 })
    assert.deepEqual(computeEvictionMessage(asking, stats, reasonOf('memory', 'memory.available', '100Mi')), {
      message:
        'The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. ' +
        'Container main was using 2Gi, request is 1Gi, has larger consumption of memory. ',
      annotations: {
        offending_containers: 'main',
        offending_containers_usage: '2Gi',
        starved_resource: 'memory',
      },
    })
  })

  test('blames no container that keeps to its request', () => {
    const stats = createPodUsage({ uid: 'u-1', memory: 1024 })
    const { message, annotations } = computeEvictionMessage(
      asking,
      stats,
      reasonOf('memory', 'memory.available', '100Mi'),
    )
    assert.equal(message, 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. ')
    assert.equal(annotations['offending_containers'], '')
  })

  test('names the pod when it asked as a whole', () => {
    const pod = createPod({ spec: { resources: { requests: { memory: '10Mi' } } } })
    const stats = createPodUsage({ uid: 'u-1', memory: 20 })
    const { message, annotations } = computeEvictionMessage(pod, stats, reasonOf('memory', 'memory.available', '1Gi'))
    assert.equal(
      message,
      'The node was low on resource: memory. Threshold quantity: 1Gi, available: 90Mi. ' +
        'Pod web was using 20Mi, request is 10Mi, has larger consumption of memory. ' +
        'Container main was using 20Mi, request is 0, has larger consumption of memory. ',
    )
    assert.deepEqual([annotations['offending_pod'], annotations['offending_pod_usage']], ['web', '20Mi'])
  })

  test('counts layers and logs for the disk, and nothing for inodes', () => {
    const stats = createPodUsage({ uid: 'u-1', rootfs: 5, logs: 6, inodes: 80 })
    const disk = computeEvictionMessage(createPod(), stats, reasonOf('ephemeral-storage', 'nodefs.available', '50Mi'))
    assert.match(
      disk.message,
      /Container main was using 11Mi, request is 0, has larger consumption of ephemeral-storage\. $/,
    )
    const inodes = computeEvictionMessage(createPod(), stats, reasonOf('inodes', 'nodefs.inodesFree', '10'))
    assert.equal(inodes.message, 'The node was low on resource: inodes. Threshold quantity: 10, available: 3. ')
  })

  test('says what was short of a pod of which nothing is known', () => {
    assert.deepEqual(computeEvictionMessage(createPod(), undefined, reasonOf('pids', 'pid.available', '600')), {
      message: 'The node was low on resource: pids. Threshold quantity: 600, available: 500. ',
      annotations: {},
    })
  })
})
