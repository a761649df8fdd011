import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Node } from '../../../model/generated/core-v1.ts'
import { computeNodeChanged, computeNodePatch } from './compute-node-patch.ts'

const ready = (status: string, lastHeartbeatTime: string) => ({ type: 'Ready', status, lastHeartbeatTime })
const address = (type: string, text: string) => ({ type, address: text })

describe('computeNodePatch()', () => {
  const rows: readonly (readonly [string, Node, Node, unknown])[] = [
    ['nothing', { status: { capacity: { cpu: '1' } } }, { status: { capacity: { cpu: '1' } } }, undefined],
    [
      'what is empty is what is not there',
      { status: { runtimeHandlers: [{ features: { userNamespaces: false } }] } },
      {
        status: { images: [], volumesInUse: [], runtimeHandlers: [{ name: '', features: { userNamespaces: false } }] },
      },
      undefined,
    ],
    [
      'amounts that are new, changed, gone',
      { status: { capacity: { cpu: '1', gone: '1', same: '1' } } },
      { status: { capacity: { cpu: '2', fresh: '1', same: '1' } } },
      { status: { capacity: { cpu: '2', gone: null, fresh: '1' } } },
    ],
    ['a list that is gone', { status: { volumesInUse: ['a'] } }, { status: {} }, { status: { volumesInUse: null } }],
    [
      'labels and annotations, nothing else of the metadata and never the spec',
      { metadata: { resourceVersion: '1', annotations: { a: '1' } }, spec: { taints: [] } },
      {
        metadata: { resourceVersion: '2', labels: { constructor: 'x' } },
        spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] },
      },
      { metadata: { labels: { constructor: 'x' }, annotations: null } },
    ],
    [
      'only the conditions that changed, whole',
      { status: { conditions: [{ type: 'Other', status: 'True' }, ready('True', '1')] } },
      { status: { conditions: [{ type: 'Other', status: 'True' }, ready('True', '2')] } },
      { status: { conditions: [ready('True', '2')] } },
    ],
    [
      'first addresses',
      {},
      { status: { addresses: [address('InternalIP', '1')] } },
      { status: { addresses: [address('InternalIP', '1')] } },
    ],
    [
      'other addresses',
      { status: { addresses: [address('InternalIP', '1')] } },
      { status: { addresses: [address('InternalIP', '1'), address('InternalIP', '2')] } },
      { status: { addresses: [address('InternalIP', '1'), address('InternalIP', '2'), { $patch: 'replace' }] } },
    ],
    [
      'lists as a whole',
      { status: { images: [{ names: ['a'], sizeBytes: 1 }, { names: ['b'] }] } },
      { status: { images: [{ names: ['a'], sizeBytes: 2 }, { names: ['b'] }] } },
      { status: { images: [{ names: ['a'], sizeBytes: 2 }, { names: ['b'] }] } },
    ],
  ]
  for (const [name, before, after, expected] of rows) {
    test(name, () => assert.deepEqual(computeNodePatch(before, after), expected))
  }
})

test('computeNodeChanged() does not count heartbeats', () => {
  const node = (status: string, heartbeat: string): Node => ({ status: { conditions: [ready(status, heartbeat)] } })
  assert.deepEqual(
    [node('True', '2'), node('False', '1')].map((after) => computeNodeChanged(node('True', '1'), after)),
    [false, true],
  )
})
