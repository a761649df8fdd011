import { each, get, patch, post } from '../contract-case.ts'
import type { ContractStep, ContractTable } from '../contract-case.ts'
import { CONFIG_MAPS, configMap, container, NODES, core, pod, PODS } from './objects.ts'

const DATA = ['data', 'metadata.labels', 'metadata.annotations'] as const

let number = 0
/** A case about a configmap of its own, which is made first. */
function onMap(name: string, ...patches: readonly (readonly ['json' | 'merge' | 'strategic', unknown])[]) {
  number += 1
  const own = `map-${number}`
  const made = post(CONFIG_MAPS, configMap(own, { a: '1', b: '2' }, { labels: { l: 'x' } }), { shows: 'code' })
  const changes = patches.map(([kind, body]): ContractStep => patch(kind, `${CONFIG_MAPS}/${own}`, body))
  return each(name, made, ...changes, get(`${CONFIG_MAPS}/${own}`, { shows: DATA }))
}

/** A case about the spec of a pod. The pod has two containers, tolerations and labels. */
function onPod(
  name: string,
  kind: 'json' | 'merge' | 'strategic',
  body: unknown,
  shows: ContractStep['shows'] = 'all',
) {
  number += 1
  const own = pod(
    `pod-${number}`,
    {
      containers: [container({ env: [{ name: 'A', value: '1' }] }), container({ name: 'second' })],
      tolerations: [{ key: 'a', operator: 'Exists' }],
    },
    { labels: { l: 'x', m: 'y' }, finalizers: ['example.com/f'], annotations: { n: 'z' } },
  )
  const path = `${PODS}/pod-${number}`
  const end = patch('merge', path, { metadata: { finalizers: null } }, { shows: 'code' })
  return each(name, post(PODS, own, { shows: 'code' }), patch(kind, path, body, { shows }), end)
}

const META = [
  'metadata.labels',
  'metadata.annotations',
  'metadata.finalizers',
  'metadata.generation',
  'code',
  'reason',
  'message',
  'details',
]
const SPEC = ['spec.containers', 'spec.tolerations', 'metadata.generation', 'code', 'reason', 'details']

export const patches: ContractTable = {
  name: 'patches',
  cases: [
    onMap('json: add, replace, remove', [
      'json',
      [
        { op: 'add', path: '/data/c', value: '3' },
        { op: 'replace', path: '/data/a', value: '9' },
        { op: 'remove', path: '/data/b' },
      ],
    ]),
    onMap('json: test that holds', [
      'json',
      [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'remove', path: '/data/a' },
      ],
    ]),
    onMap('json: test that does not hold', [
      'json',
      [
        { op: 'test', path: '/data/a', value: '2' },
        { op: 'remove', path: '/data/a' },
      ],
    ]),
    onMap('json: remove what is not there', ['json', [{ op: 'remove', path: '/data/missing' }]]),
    onMap('json: replace what is not there', ['json', [{ op: 'replace', path: '/data/missing', value: 'x' }]]),
    onMap('json: copy and move', [
      'json',
      [
        { op: 'copy', from: '/data/a', path: '/data/c' },
        { op: 'move', from: '/data/b', path: '/data/d' },
      ],
    ]),
    onMap('json: escaped keys', ['json', [{ op: 'add', path: '/metadata/labels/example.com~1x', value: 'y' }]]),
    onMap('json: an operation that is none', ['json', [{ op: 'erase', path: '/data/a' }]]),
    onMap('json: no list', ['json', { op: 'add' }]),
    onMap('json: nothing to do', ['json', []]),
    onMap('json: below what is not there', ['json', [{ op: 'add', path: '/x/y/z', value: '1' }]]),
    onMap('json: the version', ['json', [{ op: 'replace', path: '/metadata/resourceVersion', value: '1' }]]),
    onMap('json: the name', ['json', [{ op: 'replace', path: '/metadata/name', value: 'other' }]]),
    onMap('json: the kind', ['json', [{ op: 'replace', path: '/kind', value: 'Secret' }]]),
    onMap('json: the whole object', [
      'json',
      [{ op: 'replace', path: '', value: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } } }],
    ]),
    onMap('merge: change, add, remove', ['merge', { data: { a: '9', b: null, c: '3' } }]),
    onMap('merge: remove all', ['merge', { data: null }]),
    onMap('merge: nothing', ['merge', {}]),
    onMap('merge: labels', ['merge', { metadata: { labels: { l: null, n: 'o' }, annotations: { p: 'q' } } }]),
    onMap('merge: a list', ['merge', [1]]),
    onMap('merge: no JSON', ['merge', 'not json']),
    onMap('merge: a field that is none', ['merge', { colour: 'red' }]),
    onMap('merge: a type that is none', ['merge', { data: { a: 1 } }]),
    onMap('merge: the uid', ['merge', { metadata: { uid: 'other' } }]),
    onMap('merge: an old version', ['merge', { metadata: { resourceVersion: '1' }, data: { a: '9' } }]),
    onMap('merge: the time of creation', ['merge', { metadata: { creationTimestamp: '2020-01-01T00:00:00Z' } }]),
    onMap('merge: the namespace', ['merge', { metadata: { namespace: 'other' } }]),
    onMap('merge: a broken rule', ['merge', { data: { 'a b': 'x' } }]),
    onMap('strategic: a map', ['strategic', { data: { a: '9', b: null } }]),
    onMap('strategic: a map in place of the old', ['strategic', { data: { $patch: 'replace', z: '1' } }]),
    onMap('strategic: a map removed', ['strategic', { data: { $patch: 'delete' } }]),
    onMap('strategic: a directive that is none', ['strategic', { data: { $patch: 'swap', a: '1' } }]),
    onMap('strategic: only these keys stay', ['strategic', { data: { $retainKeys: ['a'], a: '1' } }]),
    onMap('strategic: no map', ['strategic', [1]]),
    onPod(
      'strategic: a container by its name',
      'strategic',
      { spec: { containers: [{ name: 'second', image: 'registry.test/new:1' }] } },
      SPEC,
    ),
    onPod(
      'strategic: a container removed',
      'strategic',
      { spec: { containers: [{ name: 'second', $patch: 'delete' }] } },
      SPEC,
    ),
    onPod('strategic: a container without its key', 'strategic', { spec: { containers: [{ image: 'x' }] } }, 'code'),
    onPod('strategic: containers in another order', 'strategic', { spec: { $setElementOrder: 1 } }, 'code'),
    onPod(
      'strategic: the order of containers',
      'strategic',
      { spec: { '$setElementOrder/containers': [{ name: 'second' }, { name: 'main' }] } },
      SPEC,
    ),
    onPod(
      'strategic: tolerations are one value',
      'strategic',
      {
        spec: {
          tolerations: [
            { key: 'a', operator: 'Exists' },
            { key: 'b', operator: 'Exists' },
          ],
        },
      },
      SPEC,
    ),
    onPod('strategic: finalizers are merged', 'strategic', { metadata: { finalizers: ['example.com/g'] } }, META),
    onPod(
      'strategic: a finalizer removed',
      'strategic',
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/f'] } },
      META,
    ),
    onPod(
      'strategic: labels in place of the old',
      'strategic',
      { metadata: { labels: { $patch: 'replace', only: 'this' } } },
      META,
    ),
    onPod('strategic: a field that may not change', 'strategic', { spec: { hostNetwork: true } }, SPEC),
    onPod(
      'strategic: an owner',
      'strategic',
      {
        metadata: {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '00000000-0000-0000-0000-000000000001' },
          ],
        },
      },
      ['metadata.ownerReferences', 'code'],
    ),
    onPod(
      'merge: containers are one value',
      'merge',
      { spec: { containers: [container({ image: 'registry.test/new:1' })] } },
      SPEC,
    ),
    onPod(
      'merge: the image of all',
      'merge',
      {
        spec: {
          containers: [
            container({ image: 'registry.test/new:1', env: [{ name: 'A', value: '1' }] }),
            container({ name: 'second' }),
          ],
        },
      },
      'code',
    ),
    onPod(
      'json: the image of the first',
      'json',
      [{ op: 'replace', path: '/spec/containers/0/image', value: 'registry.test/new:1' }],
      SPEC,
    ),
    onPod(
      'json: beyond the end of a list',
      'json',
      [{ op: 'replace', path: '/spec/containers/7/image', value: 'x' }],
      'code',
    ),
    onPod(
      'json: at the end of a list',
      'json',
      [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'b', operator: 'Exists' } }],
      SPEC,
    ),
    onPod(
      'json: the status is not changed here',
      'json',
      [{ op: 'replace', path: '/status/phase', value: 'Running' }],
      ['status.phase', 'code'],
    ),
    onPod('merge: a shorter deadline may come', 'merge', { spec: { activeDeadlineSeconds: 5 } }, [
      'spec.activeDeadlineSeconds',
      'metadata.generation',
      'code',
    ]),
    onPod('merge: the grace may not change', 'merge', { spec: { terminationGracePeriodSeconds: 5 } }, SPEC),
    onPod('merge: the node may not change', 'merge', { spec: { nodeName: 'node-9' } }, SPEC),
    onPod('merge: the account may not change', 'merge', { spec: { serviceAccountName: 'other' } }, SPEC),
    onPod('merge: null removes a label', 'merge', { metadata: { labels: { l: null } } }, META),
    each('a patch of what is not there', patch('merge', `${CONFIG_MAPS}/missing`, {})),
    each('a patch of all', patch('merge', CONFIG_MAPS, {})),
    each('a patch of a kind that is none', {
      verb: 'PATCH',
      path: `${CONFIG_MAPS}/missing`,
      body: {},
      headers: { 'content-type': 'text/plain' },
    }),
    each(
      'a patch that changes nothing keeps the version',
      post(CONFIG_MAPS, configMap('same', { a: '1' }), { keep: 'first', shows: 'code' }),
      patch('merge', `${CONFIG_MAPS}/same`, { data: { a: '1' } }, { keep: 'second', shows: 'code' }),
      get(`${CONFIG_MAPS}/same?resourceVersion=$(first.metadata.resourceVersion)`, { shows: 'code' }),
      patch(
        'merge',
        `${CONFIG_MAPS}/same`,
        { metadata: { resourceVersion: '$(first.metadata.resourceVersion)' }, data: { a: '2' } },
        { shows: ['data'] },
      ),
    ),
    each(
      'a node: conditions by their type in a strategic patch',
      post(NODES, core('Node', 'contract-patched'), { shows: 'code' }),
      patch(
        'strategic',
        `${NODES}/contract-patched/status`,
        {
          status: {
            conditions: [{ type: 'A', status: 'True', lastHeartbeatTime: null, lastTransitionTime: null }],
            addresses: [{ type: 'Hostname', address: 'x' }],
          },
        },
        { shows: ['status.conditions', 'status.addresses'] },
      ),
      patch(
        'strategic',
        `${NODES}/contract-patched/status`,
        {
          status: {
            conditions: [
              { type: 'B', status: 'False' },
              { type: 'A', status: 'Unknown' },
            ],
            addresses: [{ type: 'Hostname', address: 'y' }],
          },
        },
        { shows: ['status.conditions', 'status.addresses'] },
      ),
      patch(
        'strategic',
        `${NODES}/contract-patched/status`,
        { status: { conditions: [{ $patch: 'delete', type: 'A' }] } },
        { shows: ['status.conditions'] },
      ),
      { verb: 'DELETE', path: `${NODES}/contract-patched`, shows: 'code' },
    ),
  ],
}
