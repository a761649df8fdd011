import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { parsePodUid } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { computeSourceDiff } from './compute-source-diff.ts'
import type { KnownPods, SourceDiff } from './compute-source-diff.ts'

const NOW = Date.UTC(2026, 0, 31, 12)

function pod(uid: string, change: { metadata?: object; spec?: object; status?: object } = {}): Pod {
  return {
    metadata: { name: `pod-${uid}`, namespace: 'default', uid: parsePodUid(uid), ...change.metadata },
    spec: { containers: [], ...change.spec },
    ...(change.status && { status: change.status }),
  }
}

function diff(before: KnownPods | undefined, pods: readonly Pod[], source = 'api'): SourceDiff {
  return computeSourceDiff(before ?? new Map(), { source, pods, isFirst: before === undefined, now: NOW })
}

/** "ADD a,b": what a diff says, in short. */
function steps({ updates }: SourceDiff): string[] {
  return updates.map(({ operation, pods }) => `${operation} ${pods.map(({ metadata }) => metadata.uid).join(',')}`)
}

describe('computeSourceDiff()', () => {
  test('marks a new pod with its source and when it was seen', () => {
    const [update] = diff(undefined, [pod('a', { metadata: { annotations: { x: 'y' } } })], 'file').updates
    assert.deepEqual(update?.pods[0]?.metadata.annotations, {
      x: 'y',
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.seen': '2026-01-31T12:00:00.000000000Z',
    })
  })

  const first = diff(undefined, [pod('a', { metadata: { labels: { l: '1' } }, status: { phase: 'Pending' } })]).known
  const same = { metadata: { labels: { l: '1' } }, status: { phase: 'Pending' } }
  const rows: readonly (readonly [string, readonly Pod[], readonly string[]])[] = [
    ['nothing', [pod('a', same)], []],
    ['a new pod', [pod('a', same), pod('b')], ['ADD b']],
    ['a pod that is gone', [], ['REMOVE a']],
    ['another in its place', [pod('b')], ['REMOVE a', 'ADD b']],
    ['a spec', [pod('a', { ...same, spec: { hostPID: true } })], ['UPDATE a']],
    ['a label', [pod('a', { ...same, metadata: { labels: { l: '2' } } })], ['UPDATE a']],
    ['an annotation', [pod('a', { ...same, metadata: { labels: { l: '1' }, annotations: { a: 'b' } } })], ['UPDATE a']],
    [
      'an annotation of the kubelet alone',
      [pod('a', { ...same, metadata: { labels: { l: '1' }, annotations: { 'kubernetes.io/config.mirror': 'b' } } })],
      [],
    ],
    [
      'a deletion',
      [pod('a', { ...same, metadata: { labels: { l: '1' }, deletionTimestamp: '2026-01-31T12:00:00Z' } })],
      ['DELETE a'],
    ],
    ['the status alone', [pod('a', { ...same, status: { phase: 'Running' } })], ['RECONCILE a']],
    ['other metadata alone', [pod('a', { ...same, metadata: { labels: { l: '1' }, resourceVersion: '9' } })], []],
  ]
  for (const [name, pods, expected] of rows) {
    test(`sees ${name}`, () => assert.deepEqual(steps(diff(first, pods)), expected))
  }

  test('sends an empty ADD when a source is first seen with nothing', () => {
    assert.deepEqual(steps(diff(undefined, [])), ['ADD '])
    assert.deepEqual(steps(diff(new Map(), [])), [])
  })

  test('orders the steps', () => {
    const before = diff(
      undefined,
      ['a', 'b', 'c', 'd'].map((uid) => pod(uid)),
    ).known
    const pods = [
      pod('b', { spec: { hostPID: true } }),
      pod('c', { metadata: { deletionTimestamp: '2026-01-31T12:00:00Z' } }),
      pod('d', { status: { phase: 'Running' } }),
      pod('e'),
    ]
    assert.deepEqual(steps(diff(before, pods)), ['REMOVE a', 'ADD e', 'UPDATE b', 'DELETE c', 'RECONCILE d'])
  })

  test('keeps its own annotations and the first other metadata on a change', () => {
    const changed = pod('a', { spec: { hostPID: true }, metadata: { resourceVersion: '9', generation: 2 } })
    const [update] = diff(first, [changed]).updates
    assert.deepEqual(update?.pods[0]?.metadata, {
      name: 'pod-a',
      namespace: 'default',
      uid: 'a',
      labels: undefined,
      deletionTimestamp: undefined,
      deletionGracePeriodSeconds: undefined,
      generation: 2,
      annotations: {
        'kubernetes.io/config.source': 'api',
        'kubernetes.io/config.seen': '2026-01-31T12:00:00.000000000Z',
      },
    })
  })

  test('keeps the known one of two pods with one name, else the first', () => {
    const twin = pod('twin', { metadata: { name: 'pod-a' } })
    const fresh = diff(undefined, [twin, pod('a')])
    assert.deepEqual([steps(fresh), fresh.duplicates.map(({ metadata }) => metadata.uid)], [['ADD twin'], ['a']])
    const later = diff(first, [twin, pod('a', same)])
    assert.deepEqual([steps(later), later.duplicates.map(({ metadata }) => metadata.uid)], [[], ['twin']])
  })

  test('keeps the known one of two pods with one UID, else the first, and never makes one of the other', () => {
    const [alpha, beta] = ['alpha', 'beta'].map((name) => pod('u', { metadata: { name } })) as [Pod, Pod]
    const begun = diff(undefined, [alpha, beta])
    assert.deepEqual([steps(begun), begun.duplicates], [['ADD u'], [beta]])
    assert.deepEqual(steps(diff(begun.known, [beta, alpha])), [])
    const after = diff(begun.known, [beta])
    assert.deepEqual(
      after.updates.map(({ operation, pods }) => `${operation} ${pods.map(({ metadata }) => metadata.name).join(',')}`),
      ['REMOVE alpha', 'ADD beta'],
    )
  })

  test('does not depend on the order of a set, and sees nothing new in the same set', () => {
    const uids = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}$/), { maxLength: 8 })
    const shuffled = uids.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    )
    fc.assert(
      fc.property(uids, shuffled, (old, [sorted, mixed]) => {
        const before = diff(
          undefined,
          old.map((uid) => pod(uid)),
        ).known
        const left = diff(
          before,
          sorted.map((uid) => pod(uid)),
        )
        const right = diff(
          before,
          mixed.map((uid) => pod(uid)),
        )
        const contents = (each: SourceDiff) => steps(each).map((step) => step.split(/[ ,]/).sort())
        assert.deepEqual(contents(left), contents(right))
        assert.deepEqual(
          steps(
            diff(
              left.known,
              mixed.map((uid) => pod(uid)),
            ),
          ),
          [],
        )
      }),
    )
  })
})
