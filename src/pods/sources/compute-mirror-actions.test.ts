import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { CONFIG_HASH_ANNOTATION, CONFIG_MIRROR_ANNOTATION } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { computeMirrorActions } from './compute-mirror-actions.ts'
import type { MirrorInput } from './compute-mirror-actions.ts'

const node = { name: 'node-1', uid: 'node-uid' }
const staticPod = (hash: string): Pod =>
  createPod({ metadata: { uid: hash, labels: { app: 'web' }, annotations: { [CONFIG_HASH_ANNOTATION]: hash } } })
const mirror = (hash: string, parts: Partial<Pod['metadata']> = {}): Pod =>
  createPod({ metadata: { uid: 'm-1', annotations: { [CONFIG_MIRROR_ANNOTATION]: hash }, ...parts } })

describe('computeMirrorActions()', () => {
  const wanted = [{ pod: staticPod('a'), isDesired: true }]
  const rows: readonly (readonly [string, Partial<MirrorInput>, readonly string[]])[] = [
    ['does nothing where all is right', { staticPods: wanted, mirrors: [mirror('a')] }, []],
    ['makes one that is missing', { staticPods: wanted }, ['create']],
    ['makes none without a Node to own it', { staticPods: wanted, node: undefined }, []],
    ['removes one of another manifest first', { staticPods: wanted, mirrors: [mirror('b')] }, ['delete m-1']],
    [
      'removes one that is being deleted',
      { staticPods: wanted, mirrors: [mirror('a', { deletionTimestamp: 'now' })] },
      ['delete m-1'],
    ],
    ['removes one that belongs to nothing', { mirrors: [mirror('a')] }, ['delete m-1']],
    ['keeps it until all sources have reported what they have', { mirrors: [mirror('a')], allSeen: false }, []],
    [
      'keeps it until its static pod has ended',
      { staticPods: [{ pod: staticPod('a'), isDesired: false }], mirrors: [mirror('a')] },
      [],
    ],
    [
      'keeps it also when another has its name by then',
      {
        staticPods: [
          { pod: staticPod('a'), isDesired: false },
          { pod: staticPod('b'), isDesired: true },
        ],
        mirrors: [mirror('a')],
      },
      [],
    ],
    [
      'makes none for the next of the name before that',
      {
        staticPods: [
          { pod: staticPod('a'), isDesired: false },
          { pod: staticPod('b'), isDesired: true },
        ],
      },
      [],
    ],
  ]
  for (const [name, input, expected] of rows) {
    test(name, () => {
      const actions = computeMirrorActions({ staticPods: [], mirrors: [], allSeen: true, node, ...input })
      assert.deepEqual(
        actions.map((action) => (action.kind === 'delete' ? `delete ${action.mirror.metadata.uid}` : action.kind)),
        expected,
      )
    })
  }

  test('makes the same pod, owned by the Node', () => {
    const [action] = computeMirrorActions({ staticPods: wanted, mirrors: [], allSeen: true, node })
    const annotations = { [CONFIG_HASH_ANNOTATION]: 'a', [CONFIG_MIRROR_ANNOTATION]: 'a' }
    assert.deepEqual(action?.kind === 'create' && action.body, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'web',
        namespace: 'shop',
        labels: { app: 'web' },
        annotations,
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'node-uid', controller: true }],
      },
      spec: wanted[0]?.pod.spec,
    })
  })
})
