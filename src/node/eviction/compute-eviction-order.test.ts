import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { createPodUsage } from '../../../test/builders/create-stats-snapshot.ts'
import type { PodUse } from '../../../test/builders/create-stats-snapshot.ts'
import { isCriticalPod } from '../../model/pod/critical-pod.ts'
import { CONFIG_SOURCE_ANNOTATION } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { computeEvictionOrder } from './compute-eviction-order.ts'
import type { EvictionNeed } from './compute-eviction-order.ts'

interface PodParts {
  readonly priority?: number
  readonly requests?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

function pod(uid: string, { priority, requests, annotations }: PodParts = {}): Pod {
  return createPod({
    metadata: { uid, ...(annotations && { annotations }) },
    spec: {
      ...(priority !== undefined && { priority }),
      containers: [createContainer(requests && { resources: { requests } })],
    },
  })
}

function order(
  resource: EvictionNeed['resource'],
  entries: readonly (readonly [PodParts, PodUse | string])[],
  parts: EvictionNeed['parts'] = ['rootfs', 'logs', 'volumes'],
): string {
  const uses = entries.map(([, use]) => use).filter((use) => typeof use !== 'string')
  const stats = new Map(uses.map((use) => createPodUsage(use)).map((each) => [each.uid, each]))
  const pods = entries.map(([about, use]) => pod(typeof use === 'string' ? use : use.uid, about))
  return computeEvictionOrder(pods, { resource, parts, stats })
    .map(({ metadata }) => metadata.uid)
    .join(' ')
}

describe('computeEvictionOrder()', () => {
  test('memory: above the request, then priority, then by how much', () => {
    const result = order('memory', [
      [{ requests: { memory: '100Mi' } }, { uid: 'modest', memory: 90 }],
      [{ requests: { memory: '100Mi' } }, { uid: 'over', memory: 150 }],
      [{ requests: { memory: '500Mi' } }, { uid: 'more-over', memory: 560 }],
      [{ priority: 10 }, { uid: 'important', memory: 900 }],
      [{}, { uid: 'small', memory: 1 }],
      [
        { priority: -1, requests: { memory: '10Mi' } },
        { uid: 'unimportant', memory: 1 },
      ],
      [{}, 'runs-not'],
    ])
    assert.equal(result, 'more-over over small important unimportant runs-not modest')
  })

  test('memory: what cannot be read of a pod that runs goes first', () => {
    const result = order('memory', [
      [{}, { uid: 'large', memory: 900 }],
      [{}, { uid: 'unread', memory: undefined }],
    ])
    assert.equal(result, 'unread large')
  })

  test('disk: by the parts that count, above the request', () => {
    const entries: readonly (readonly [PodParts, PodUse])[] = [
      [{ requests: { 'ephemeral-storage': '1Gi' } }, { uid: 'reserved', rootfs: 900 }],
      [{}, { uid: 'layers', rootfs: 300 }],
      [{}, { uid: 'writes', volumes: { data: 200 } }],
      [{}, { uid: 'talks', logs: 250 }],
    ]
    assert.equal(order('ephemeral-storage', entries), 'layers talks writes reserved')
    assert.equal(order('ephemeral-storage', entries, ['logs', 'volumes']), 'talks writes layers reserved')
    assert.equal(order('ephemeral-storage', entries, ['rootfs']), 'layers talks writes reserved')
  })

  test('inodes: by their number, whatever bytes were asked for', () => {
    const result = order('inodes', [
      [{ requests: { 'ephemeral-storage': '1Gi' } }, { uid: 'many', inodes: 90 }],
      [{}, { uid: 'few', inodes: 2 }],
    ])
    assert.equal(result, 'many few')
  })

  test('pids: priority, then their number', () => {
    const result = order('pids', [
      [{ priority: 5 }, { uid: 'important', processes: 900 }],
      [{}, { uid: 'some', processes: 3 }],
      [{}, { uid: 'bomb', processes: 500 }],
    ])
    assert.equal(result, 'bomb some important')
  })

  test('property: each pod that is not critical is in it once, in the same order for any order of input', () => {
    const anyPod = fc.record({
      priority: fc.constantFrom(undefined, -5, 0, 5, 2_000_000_000),
      isStatic: fc.boolean(),
      memory: fc.option(fc.nat(50)),
      request: fc.nat(50),
    })
    const resources = ['memory', 'ephemeral-storage', 'inodes', 'pids'] as const
    fc.assert(
      fc.property(fc.array(anyPod), fc.constantFrom(...resources), (entries, resource) => {
        const pods = entries.map(({ priority, isStatic, request }, index) =>
          pod(`u-${index}`, {
            ...(priority !== undefined && { priority }),
            requests: { memory: `${request}Mi` },
            annotations: isStatic ? { [CONFIG_SOURCE_ANNOTATION]: 'file' } : {},
          }),
        )
        const stats = new Map(
          entries.flatMap(({ memory }, index) => {
            if (memory === null) return []
            const each = createPodUsage({ uid: `u-${index}`, memory, rootfs: memory, processes: memory })
            return [[each.uid, each]]
          }),
        )
        const need = { resource, parts: ['rootfs'] as const, stats }
        const ordered = computeEvictionOrder(pods, need)
        assert.deepEqual(ordered, computeEvictionOrder(pods.toReversed(), need))
        assert.deepEqual(new Set(ordered), new Set(pods.filter((each) => !isCriticalPod(each))))
      }),
    )
  })
})
