import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DocumentValue } from '../../../base/document/document-value.ts'
import { applyMergePatch } from './json-merge-patch.ts'
import { applyStrategicMergePatch } from './strategic-merge-patch.ts'

function pod(containers: DocumentValue, others: Record<string, DocumentValue> = {}): DocumentValue {
  return { spec: { containers, ...others } }
}

const two = [
  { name: 'a', image: '1', env: [{ name: 'X', value: '1' }] },
  { name: 'b', image: '1' },
]

describe('applyStrategicMergePatch()', () => {
  const rows: readonly (readonly [string, DocumentValue, DocumentValue, DocumentValue])[] = [
    [
      'merges items by their key',
      pod(two),
      pod([{ name: 'b', image: '2' }]),
      pod([two[0] ?? {}, { name: 'b', image: '2' }]),
    ],
    ['puts items with a new key first', pod(two), pod([{ name: 'c' }]), pod([{ name: 'c' }, ...two])],
    [
      'merges lists inside lists',
      pod(two),
      pod([{ name: 'a', env: [{ name: 'Y', value: '2' }] }]),
      pod([
        {
          ...two[0],
          env: [
            { name: 'Y', value: '2' },
            { name: 'X', value: '1' },
          ],
        },
        two[1] ?? {},
      ]),
    ],
    ['deletes an item', pod(two), pod([{ $patch: 'delete', name: 'a' }]), pod([two[1] ?? {}])],
    ['replaces a list', pod(two), pod([{ $patch: 'replace' }, { name: 'c' }]), pod([{ name: 'c' }])],
    [
      'takes null as deletion',
      { metadata: { labels: { a: '1', b: '2' } } },
      { metadata: { labels: { a: null } } },
      { metadata: { labels: { b: '2' } } },
    ],
    [
      'replaces a list without a key',
      pod([{ name: 'a', args: ['1'] }]),
      pod([{ name: 'a', args: ['2', '3'] }]),
      pod([{ name: 'a', args: ['2', '3'] }]),
    ],
    [
      'merges plain values as a set',
      { metadata: { finalizers: ['a', 'b'] } },
      { metadata: { finalizers: ['b', 'c'] } },
      { metadata: { finalizers: ['a', 'b', 'c'] } },
    ],
    [
      'deletes plain values',
      { metadata: { finalizers: ['a', 'b'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } },
      { metadata: { finalizers: ['b'] } },
    ],
    [
      'replaces an object',
      pod([], { securityContext: { runAsUser: 1 } }),
      { spec: { securityContext: { $patch: 'replace', runAsGroup: 2 } } },
      pod([], { securityContext: { runAsGroup: 2 } }),
    ],
    [
      'empties an object',
      pod([], { securityContext: { runAsUser: 1 } }),
      { spec: { securityContext: { $patch: 'delete' } } },
      pod([], { securityContext: {} }),
    ],
    [
      'keeps only the keys that are to be retained',
      pod([], { volumes: [{ name: 'v', emptyDir: {} }] }),
      { spec: { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] } },
      pod([], { volumes: [{ name: 'v', hostPath: { path: '/x' } }] }),
    ],
    [
      'puts items into the order asked for',
      pod(two),
      { spec: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] } },
      pod(two.toReversed()),
    ],
    [
      'leaves items that the patch does not know before their next neighbour',
      pod([{ name: 'a' }, { name: 'x' }, { name: 'b' }]),
      {
        spec: {
          '$setElementOrder/containers': [{ name: 'a' }, { name: 'c' }, { name: 'b' }],
          containers: [{ name: 'c' }],
        },
      },
      pod([{ name: 'a' }, { name: 'c' }, { name: 'x' }, { name: 'b' }]),
    ],
    [
      'merges conditions of a status',
      { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
      { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
      { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
    ],
    [
      'merges maps of texts',
      { metadata: { annotations: { a: '1' } } },
      { metadata: { annotations: { b: '2' } } },
      { metadata: { annotations: { a: '1', b: '2' } } },
    ],
    [
      'knows keys only as their own',
      {},
      JSON.parse('{"metadata":{"labels":{"__proto__":"x"}}}') as DocumentValue,
      JSON.parse('{"metadata":{"labels":{"__proto__":"x"}}}') as DocumentValue,
    ],
  ]
  for (const [name, target, patch, expected] of rows) {
    test(name, () => assert.deepEqual(applyStrategicMergePatch(target, patch, 'Pod'), expected))
  }

  const rejected: readonly (readonly [string, DocumentValue, RegExp])[] = [
    ['an item without its key', pod([{ image: '1' }]), /no "name"/],
    ['an item that is no object', pod(['a']), /to be objects/],
    ['an unknown directive', { spec: { $patch: 'explode' } }, /unknown directive/],
    ['keys to retain that are no list', { spec: { $retainKeys: 1 } }, /to be a list/],
    ['a patch that is no object', [], /expected an object/],
  ]
  for (const [name, patch, expected] of rejected) {
    test(`rejects ${name}`, () => assert.throws(() => applyStrategicMergePatch(pod(two), patch, 'Pod'), expected))
  }
})

describe('applyMergePatch()', () => {
  const rows: readonly (readonly [string, DocumentValue, DocumentValue, DocumentValue])[] = [
    ['merges objects', { a: { b: 1, c: 2 } }, { a: { c: 3 } }, { a: { b: 1, c: 3 } }],
    ['takes null as deletion', { a: 1, b: 2 }, { a: null }, { b: 2 }],
    ['replaces lists', { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ['replaces a value by an object, without its nulls', { a: 1 }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    [
      'knows keys only as their own',
      {},
      JSON.parse('{"__proto__":{"x":1}}') as DocumentValue,
      JSON.parse('{"__proto__":{"x":1}}') as DocumentValue,
    ],
  ]
  for (const [name, target, patch, expected] of rows) {
    test(name, () => assert.deepEqual(applyMergePatch(target, patch), expected))
  }
})
