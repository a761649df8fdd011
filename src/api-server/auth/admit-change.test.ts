import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFakeObjects } from '../../../test/fakes/fake-objects.ts'
import { ApiError } from '../api-error.ts'
import type { ApiObject } from '../store/api-object.ts'
import { admitChange } from './admit-change.ts'

const node = { name: 'system:node:node-1', groups: ['system:nodes', 'system:authenticated'] }
const objects = createFakeObjects({ nodes: [{ metadata: { name: 'node-1', uid: 'node-uid' } }] })

/** What is said against a change; undefined when nothing is. */
function judge(
  resource: string,
  before: object | undefined,
  after: object | undefined,
  { user = node } = {},
): string | undefined {
  const { metadata } = (after ?? before) as ApiObject
  const key = { resource, namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
  try {
    const change = { key, before: before as ApiObject | undefined, after: after as ApiObject | undefined }
    admitChange(user, change, { objects })
    return undefined
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.status.code, 403)
    return error.message
  }
}

function nodeOf(
  change: { readonly labels?: object; readonly ownerReferences?: readonly object[]; readonly spec?: object },
  name = 'node-1',
) {
  const { spec = {}, ...metadata } = change
  return { metadata: { name, ...metadata }, spec, status: {} }
}

const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'node-uid', controller: true }
const mirror = {
  metadata: {
    name: 'p',
    namespace: 'n',
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    ownerReferences: [owner],
  },
  spec: { nodeName: 'node-1', containers: [] },
}
const taints = [{ key: 'a', effect: 'NoSchedule' }]

describe('admitChange()', () => {
  const rows: readonly (readonly [name: string, fault: string | undefined, RegExp | undefined])[] = [
    [
      'a node registers itself, with taints and labels',
      judge(
        'nodes',
        undefined,
        nodeOf({
          spec: { taints },
          labels: {
            'kubernetes.io/hostname': 'x',
            mine: 'y',
            'node.kubernetes.io/x': 'z',
            'a.kubelet.kubernetes.io/x': 'z',
            'example.com/x': 'y',
          },
        }),
      ),
      undefined,
    ],
    [
      'a node registers another',
      judge('nodes', undefined, nodeOf({}, 'node-2')),
      /nodes "node-2" is forbidden: node "node-1" may only register itself/,
    ],
    [
      'a node comes with a restricted label',
      judge('nodes', undefined, nodeOf({ labels: { 'node-restriction.kubernetes.io/a': 'b' } })),
      /label "node-restriction/,
    ],
    [
      'a node gets a restricted label',
      judge('nodes', nodeOf({}), nodeOf({ labels: { 'node-role.kubernetes.io/control-plane': '' } })),
      /label "node-role/,
    ],
    [
      'a node loses a restricted label',
      judge('nodes', nodeOf({ labels: { 'x.k8s.io/a': '1' } }), nodeOf({})),
      /label "x.k8s.io\/a"/,
    ],
    [
      'a node changes a restricted label',
      judge('nodes', nodeOf({ labels: { 'k8s.io/a': '1' } }), nodeOf({ labels: { 'k8s.io/a': '2' } })),
      /label "k8s.io\/a"/,
    ],
    [
      'a node keeps a restricted label',
      judge('nodes', nodeOf({ labels: { 'k8s.io/a': '1' } }), nodeOf({ labels: { 'k8s.io/a': '1', b: 'c' } })),
      undefined,
    ],
    ['a node changes its taints', judge('nodes', nodeOf({ spec: { taints } }), nodeOf({})), /taints/],
    ['a node gets owners', judge('nodes', nodeOf({}), nodeOf({ ownerReferences: [owner] })), /owners/],
    [
      'a node changes where its configuration is from',
      judge('nodes', nodeOf({}), nodeOf({ spec: { configSource: {} } })),
      /configuration/,
    ],
    ['a node writes its lease', judge('leases.coordination.k8s.io', undefined, nodeOf({})), undefined],
    [
      'a node writes the lease of another',
      judge('leases.coordination.k8s.io', undefined, nodeOf({}, 'node-2')),
      /own name/,
    ],
    [
      'a node writes the CSINode of another',
      judge('csinodes.storage.k8s.io', undefined, nodeOf({}, 'node-2')),
      /own name/,
    ],
    [
      'a node publishes its devices',
      judge('resourceslices.resource.k8s.io', undefined, nodeOf({ spec: { nodeName: 'node-1' } }, 'slice')),
      undefined,
    ],
    [
      'a node publishes devices of another',
      judge('resourceslices.resource.k8s.io', undefined, nodeOf({ spec: { nodeName: 'node-2' } }, 'slice')),
      /devices of its own/,
    ],
    [
      'a node publishes devices of all nodes',
      judge('resourceslices.resource.k8s.io', undefined, nodeOf({ spec: { allNodes: true } }, 'slice')),
      /devices of its own/,
    ],
    ['a node creates a mirror pod', judge('pods', undefined, mirror), undefined],
    [
      'a node creates a pod',
      judge('pods', undefined, { ...mirror, metadata: { ...mirror.metadata, annotations: {} } }),
      /mirror pods/,
    ],
    [
      'a node creates a mirror pod elsewhere',
      judge('pods', undefined, { ...mirror, spec: { ...mirror.spec, nodeName: 'node-2' } }),
      /bound to itself/,
    ],
    [
      'a mirror pod without an owner',
      judge('pods', undefined, { ...mirror, metadata: { ...mirror.metadata, ownerReferences: [] } }),
      /one owner/,
    ],
    [
      'a mirror pod of an older Node',
      judge('pods', undefined, {
        ...mirror,
        metadata: { ...mirror.metadata, ownerReferences: [{ ...owner, uid: 'old' }] },
      }),
      /one owner/,
    ],
    [
      'a mirror pod with two owners',
      judge('pods', undefined, { ...mirror, metadata: { ...mirror.metadata, ownerReferences: [owner, owner] } }),
      /one owner/,
    ],
    [
      'a mirror pod that holds its Node',
      judge('pods', undefined, {
        ...mirror,
        metadata: { ...mirror.metadata, ownerReferences: [{ ...owner, blockOwnerDeletion: true }] },
      }),
      /one owner/,
    ],
    ['a status changes', judge('pods', mirror, { ...mirror, status: { phase: 'Running' } }), undefined],
    [
      'a status brings labels along',
      judge('pods', mirror, { ...mirror, metadata: { ...mirror.metadata, labels: { a: 'b' } } }),
      /labels/,
    ],
    [
      'a status brings owners along',
      judge('pods', mirror, { ...mirror, metadata: { ...mirror.metadata, ownerReferences: [] } }),
      /owners/,
    ],
    [
      'a status changes claims',
      judge('pods', mirror, { ...mirror, status: { resourceClaimStatuses: [{ name: 'a' }] } }),
      /resource claims/,
    ],
    ['a pod is deleted', judge('pods', mirror, undefined), undefined],
    ['an event is written', judge('events', undefined, { metadata: { name: 'e' } }), undefined],
    [
      'others than nodes do as they like',
      judge('nodes', nodeOf({ spec: { taints } }), nodeOf({}), { user: { name: 'jane', groups: [] } }),
      undefined,
    ],
  ]
  for (const [name, fault, pattern] of rows) {
    test(name, () => {
      if (pattern === undefined) assert.equal(fault, undefined)
      else assert.match(fault ?? '', pattern)
    })
  }
})
