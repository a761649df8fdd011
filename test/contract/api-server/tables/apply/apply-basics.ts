import { each, get, patch, put, remove } from '../../contract-case.ts'
import type { ContractTable } from '../../contract-case.ts'
import { CONFIG_MAPS, configMap, core, of, SECRETS } from '../objects.ts'
import { apply, change, force, make, owned, owners, read, replace } from './owned.ts'

const map = (name: string, data?: object, metadata: object = {}) => configMap(name, data as never, metadata as never)
const at = (name: string) => `${CONFIG_MAPS}/${name}`

/** Applies to objects without structure: who owns what, who is in the way, what goes. */
export const applyBasics: ContractTable = {
  name: 'apply',
  cases: [
    each('a new object', apply('m1', at('a1'), map('a1', { k: '1' }, { labels: { app: 'x' } })), read(at('a1'))),
    each('a new object by POST', make('m0', CONFIG_MAPS, map('a2', { k: '1' }, { labels: { app: 'x' } }))),
    each(
      'the same again',
      apply('m1', at('a3'), map('a3', { k: '1' }), { keep: 'first' }),
      apply('m1', at('a3'), map('a3', { k: '1' }), { keep: 'second' }),
      read(`${at('a3')}?resourceVersion=$(second.metadata.resourceVersion)`),
    ),
    each(
      'the same value by two',
      apply('m1', at('a4'), map('a4', { k: '1' })),
      apply('m2', at('a4'), map('a4', { k: '1' })),
    ),
    each(
      'another value',
      apply('m1', at('a5'), map('a5', { k: '1' })),
      apply('m2', at('a5'), map('a5', { k: '2' })),
      read(at('a5')),
    ),
    each(
      'another value by force',
      apply('m1', at('a6'), map('a6', { k: '1' }, { labels: { a: 'b' } })),
      force('m2', at('a6'), map('a6', { k: '2' })),
    ),
    each(
      'force takes all of an owner',
      apply('m1', at('a7'), map('a7', { k: '1' })),
      force('m2', at('a7'), map('a7', { k: '2' })),
    ),
    each(
      'a field that is given up',
      apply('m1', at('a8'), map('a8', { k: '1', l: '2' })),
      apply('m1', at('a8'), map('a8', { k: '1' })),
    ),
    each(
      'a shared field that one gives up',
      apply('m1', at('a9'), map('a9', { k: '1' })),
      apply('m2', at('a9'), map('a9', { k: '1' })),
      apply('m1', at('a9'), map('a9')),
    ),
    each(
      'labels that are given up',
      apply('m1', at('b1'), map('b1', { k: '1' }, { labels: { a: 'b' } })),
      apply('m1', at('b1'), map('b1', { k: '1' })),
    ),
    each(
      'one label that is given up',
      apply('m1', at('b2'), map('b2', { k: '1' }, { labels: { a: 'b', c: 'd' } })),
      apply('m1', at('b2'), map('b2', { k: '1' }, { labels: { c: 'd' } })),
    ),
    each('nothing at all', apply('m1', at('b3'), map('b3')), apply('m1', at('b3'), map('b3'))),
    each('empty data', apply('m1', at('b4'), map('b4', {})), apply('m2', at('b4'), map('b4', {}))),
    each(
      'empty data over data of another',
      apply('m1', at('b5'), map('b5', { k: '1' })),
      apply('m2', at('b5'), map('b5', {})),
    ),
    each('empty labels', apply('m1', at('b6'), map('b6', { k: '1' }, { labels: {} }))),
    each('null data', apply('m1', at('b7'), { ...map('b7'), data: null })),
    each('a null value', apply('m1', at('b8'), map('b8', { k: null })), apply('m2', at('b8'), map('b8', { k: '1' }))),
    each(
      'null over a value',
      apply('m1', at('b9'), map('b9', { k: '1' })),
      apply('m1', at('b9'), map('b9', { k: null })),
    ),
    each(
      'null over data',
      apply('m1', at('c1'), map('c1', { k: '1' })),
      apply('m1', at('c1'), { ...map('c1'), data: null }),
    ),
    each(
      'a part of two',
      apply('m1', at('c2'), map('c2', { a: '1' })),
      apply('m2', at('c2'), map('c2', { b: '2' })),
      apply('m1', at('c2'), map('c2', { a: '3' })),
    ),
    each(
      'a part of two, one leaves',
      apply('m1', at('c3'), map('c3', { a: '1' })),
      apply('m2', at('c3'), map('c3', { b: '2' })),
      apply('m2', at('c3'), map('c3')),
    ),
    each(
      'two conflicts with one',
      apply('m1', at('c4'), map('c4', { a: '1', b: '1' })),
      apply('m2', at('c4'), map('c4', { a: '2', b: '2' })),
    ),
    each(
      'conflicts with two',
      apply('m2', at('c5'), map('c5', { a: '1' })),
      apply('m1', at('c5'), map('c5', { b: '1' })),
      apply('m3', at('c5'), map('c5', { a: '2', b: '2' }), { shows: ['message', 'reason', 'code'] }),
    ),
    each(
      'a value that goes on to another',
      apply('m1', at('c6'), map('c6', { k: '1' })),
      apply('m2', at('c6'), map('c6', { k: '1' })),
      apply('m1', at('c6'), map('c6')),
      apply('m2', at('c6'), map('c6', { k: '2' })),
    ),
    each(
      'shared, then changed',
      apply('m1', at('c7'), map('c7', { k: '1' })),
      apply('m2', at('c7'), map('c7', { k: '1' })),
      apply('m2', at('c7'), map('c7', { k: '2' })),
      force('m2', at('c7'), map('c7', { k: '2' })),
    ),
    each(
      'after a POST',
      make('m0', CONFIG_MAPS, map('c8', { k: '1' })),
      apply('m1', at('c8'), map('c8', { k: '1' })),
      apply('m1', at('c8'), map('c8', { k: '2' })),
      force('m1', at('c8'), map('c8', { k: '2' })),
    ),
    each(
      'a name that applies and updates',
      make('m1', CONFIG_MAPS, map('c9', { k: '1' })),
      apply('m1', at('c9'), map('c9', { k: '2' })),
      apply('m1', at('c9'), map('c9', { k: '1' })),
    ),
    each(
      'PUT takes over',
      apply('m1', at('d1'), map('d1', { k: '1', l: '1' })),
      replace('m2', at('d1'), map('d1', { k: '2', l: '1' })),
      apply('m1', at('d1'), map('d1', { k: '1', l: '1' })),
    ),
    each(
      'PUT removes',
      apply('m1', at('d2'), map('d2', { k: '1', l: '1' })),
      replace('m2', at('d2'), map('d2', { l: '1' })),
      apply('m1', at('d2'), map('d2', { k: '1', l: '1' })),
    ),
    each(
      'PUT of the same',
      apply('m1', at('d3'), map('d3', { k: '1' }), { keep: 'd3' }),
      replace('m2', at('d3'), map('d3', { k: '1' })),
      read(at('d3')),
    ),
    each(
      'PUT adds',
      apply('m1', at('d4'), map('d4', { k: '1' })),
      replace('m2', at('d4'), map('d4', { k: '1', l: '2' }, { annotations: { a: 'b' } })),
    ),
    each('PUT without any data', apply('m1', at('d5'), map('d5', { k: '1' })), replace('m2', at('d5'), map('d5'))),
    each(
      'merge patch',
      apply('m1', at('d6'), map('d6', { k: '1' }, { labels: { a: 'b' } })),
      change('m2', 'merge', at('d6'), { metadata: { labels: { a: null } } }),
      change('m2', 'merge', at('d6'), { data: { k: '2', l: '3' } }),
    ),
    each(
      'json patch',
      apply('m1', at('d7'), map('d7', { k: '1' })),
      change('m2', 'json', at('d7'), [{ op: 'replace', path: '/data/k', value: '2' }]),
    ),
    each(
      'strategic patch',
      apply('m1', at('d8'), map('d8', { k: '1' })),
      change('m2', 'strategic', at('d8'), { data: { l: '2' } }),
    ),
    each(
      'a patch that changes nothing',
      apply('m1', at('d9'), map('d9', { k: '1' })),
      change('m2', 'merge', at('d9'), { data: { k: '1' } }),
    ),
    each(
      'an updater that changes again',
      make('m0', CONFIG_MAPS, map('e1', { k: '1' })),
      change('m2', 'merge', at('e1'), { data: { l: '1' } }),
      change('m2', 'merge', at('e1'), { data: { m: '1', l: null } }),
    ),
    each(
      'forgotten owners by PUT',
      apply('m1', at('e2'), map('e2', { k: '1' })),
      replace('m2', at('e2'), map('e2', { k: '1' }, { managedFields: [] })),
      replace('m3', at('e2'), map('e2', { k: '2' })),
      apply('m4', at('e2'), map('e2', { k: '2' })),
      apply('m4', at('e2'), map('e2', { k: '3' })),
    ),
    each(
      'forgotten owners by an empty entry',
      apply('m1', at('e3'), map('e3', { k: '1' })),
      change('m2', 'merge', at('e3'), { metadata: { managedFields: [{}] } }),
    ),
    each(
      'forgotten owners by a json patch',
      apply('m1', at('e4'), map('e4', { k: '1' })),
      change('m2', 'json', at('e4'), [{ op: 'replace', path: '/metadata/managedFields', value: [] }]),
    ),
    each(
      'null owners are kept',
      apply('m1', at('e5'), map('e5', { k: '1' })),
      change('m2', 'merge', at('e5'), { metadata: { managedFields: null } }),
    ),
    each(
      'owners that are none are ignored',
      apply('m1', at('e6'), map('e6', { k: '1' })),
      replace(
        'm2',
        at('e6'),
        map(
          'e6',
          { k: '1' },
          {
            managedFields: [
              { manager: 'x', operation: 'Nothing', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} },
            ],
          },
        ),
      ),
    ),
    each(
      'owners that are set by PUT',
      apply('m1', at('e7'), map('e7', { k: '1' })),
      replace(
        'm2',
        at('e7'),
        map(
          'e7',
          { k: '1' },
          {
            managedFields: [
              {
                manager: 'm9',
                operation: 'Apply',
                apiVersion: 'v1',
                fieldsType: 'FieldsV1',
                fieldsV1: { 'f:data': { 'f:k': {} } },
              },
            ],
          },
        ),
      ),
      apply('m9', at('e7'), map('e7')),
    ),
    each(
      'owners of a version that is not served',
      apply('m1', at('e8'), map('e8', { k: '1' })),
      replace(
        'm2',
        at('e8'),
        map(
          'e8',
          { k: '1' },
          {
            managedFields: [
              {
                manager: 'm9',
                operation: 'Update',
                apiVersion: 'v7',
                fieldsType: 'FieldsV1',
                fieldsV1: { 'f:data': { 'f:k': {} } },
              },
            ],
          },
        ),
      ),
    ),
    each(
      'a POST that brings owners',
      make(
        'm1',
        CONFIG_MAPS,
        map(
          'e9',
          { k: '1', l: '2' },
          {
            managedFields: [
              {
                manager: 'm9',
                operation: 'Apply',
                apiVersion: 'v1',
                fieldsType: 'FieldsV1',
                fieldsV1: { 'f:data': { 'f:k': {} } },
              },
            ],
          },
        ),
      ),
    ),
    each(
      'finalizers of two',
      apply('m1', at('f1'), map('f1', undefined, { finalizers: ['a.test/x'] })),
      apply('m2', at('f1'), map('f1', undefined, { finalizers: ['b.test/y'] })),
      apply('m1', at('f1'), map('f1')),
      apply('m2', at('f1'), map('f1')),
    ),
    each(
      'finalizers by POST',
      make('m0', CONFIG_MAPS, map('f2', undefined, { finalizers: ['a.test/x', 'b.test/y'] })),
      change('m1', 'merge', at('f2'), { metadata: { finalizers: null } }),
    ),
    each('a finalizer twice', apply('m1', at('f3'), map('f3', undefined, { finalizers: ['a.test/x', 'a.test/x'] }))),
    each(
      'owner references',
      make('m0', CONFIG_MAPS, map('f4', { k: '1' }), { keep: 'owner' }),
      apply(
        'm1',
        at('f5'),
        map('f5', undefined, {
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'f4', uid: '$(owner.metadata.uid)' }],
        }),
      ),
      apply(
        'm2',
        at('f5'),
        map('f5', undefined, {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'f4', uid: '$(owner.metadata.uid)', blockOwnerDeletion: true },
          ],
        }),
      ),
    ),
    each(
      'annotations',
      apply('m1', at('f6'), map('f6', undefined, { annotations: { 'a.test/b': 'c', 'with.dots': 'd' } })),
      apply('m2', at('f6'), map('f6', undefined, { annotations: { 'a.test/b': 'e' } })),
    ),
    each(
      'binary data',
      apply('m1', at('f7'), { ...map('f7'), binaryData: { b: 'AAAA' } }),
      apply('m2', at('f7'), { ...map('f7'), binaryData: { b: 'BBBB' } }),
    ),
    each(
      'immutable',
      apply('m1', at('f8'), { ...map('f8', { k: '1' }), immutable: true }),
      apply('m1', at('f8'), { ...map('f8', { k: '2' }), immutable: true }),
      apply('m1', at('f8'), map('f8', { k: '1' })),
    ),
    each(
      'a secret',
      apply('m1', `${SECRETS}/s1`, core('Secret', 's1', { stringData: { a: 'x' } })),
      apply('m1', `${SECRETS}/s1`, core('Secret', 's1', { data: { a: 'eA==' } })),
      apply('m2', `${SECRETS}/s1`, core('Secret', 's1', { data: { a: 'eQ==' } })),
    ),
    each('a secret by POST', make('m0', SECRETS, core('Secret', 's2', { stringData: { a: 'x' }, type: 'Opaque' }))),
    each(
      'a dry run of a new one',
      apply('m1', `${at('g1')}?dryRun=All`, map('g1', { k: '1' })),
      get(at('g1'), { shows: 'code' }),
    ),
    each(
      'a dry run of a change',
      apply('m1', at('g2'), map('g2', { k: '1' })),
      apply('m1', `${at('g2')}?dryRun=All`, map('g2', { k: '2' })),
      read(at('g2')),
    ),
    each(
      'a dry run with a conflict',
      apply('m1', at('g3'), map('g3', { k: '1' })),
      apply('m2', `${at('g3')}?dryRun=All`, map('g3', { k: '2' })),
    ),
    each(
      'a dry run by force',
      apply('m1', at('g4'), map('g4', { k: '1' })),
      force('m2', `${at('g4')}?dryRun=All`, map('g4', { k: '2' })),
      read(at('g4')),
    ),
    each(
      'a stale version',
      apply('m1', at('g5'), map('g5', { k: '1' }), { keep: 'old' }),
      apply('m1', at('g5'), map('g5', { k: '2' })),
      apply('m1', at('g5'), map('g5', { k: '3' }, { resourceVersion: '$(old.metadata.resourceVersion)' })),
    ),
    each(
      'the right version',
      apply('m1', at('g6'), map('g6', { k: '1' }), { keep: 'old' }),
      apply('m1', at('g6'), map('g6', { k: '3' }, { resourceVersion: '$(old.metadata.resourceVersion)' })),
    ),
    each(
      'the right uid',
      apply('m1', at('g7'), map('g7', { k: '1' }), { keep: 'old' }),
      apply('m1', at('g7'), map('g7', { k: '3' }, { uid: '$(old.metadata.uid)' })),
    ),
    each(
      'another uid',
      apply('m1', at('g8'), map('g8', { k: '1' })),
      apply('m1', at('g8'), map('g8', { k: '3' }, { uid: '11111111-1111-1111-1111-111111111111' }), { shows: 'code' }),
    ),
    each(
      'a uid of nothing',
      apply('m1', at('g9'), map('g9', { k: '3' }, { uid: '11111111-1111-1111-1111-111111111111' })),
    ),
    each(
      'a version of nothing',
      apply('m1', at('h1'), map('h1', { k: '3' }, { resourceVersion: '1' }), { shows: 'code' }),
    ),
    each(
      'twelve updaters',
      make('u00', CONFIG_MAPS, map('h2', { k00: '1' })),
      ...Array.from({ length: 11 }, (_, index) =>
        change(
          `u${String(index + 1).padStart(2, '0')}`,
          'merge',
          at('h2'),
          { data: { [`k${String(index + 1).padStart(2, '0')}`]: '1' } },
          { shows: 'code' },
        ),
      ),
      read(at('h2')),
    ),
    each(
      'twelve appliers',
      ...Array.from({ length: 12 }, (_, index) =>
        apply(`a${index}`, at('h3'), map('h3', { [`k${index}`]: '1' }), { shows: 'code' }),
      ),
      read(at('h3')),
    ),
    each(
      'fourteen updaters',
      make('u00', CONFIG_MAPS, map('h4', { k00: '1' })),
      ...Array.from({ length: 13 }, (_, index) =>
        change(
          `u${String(index + 1).padStart(2, '0')}`,
          'merge',
          at('h4'),
          { data: { [`k${String(index + 1).padStart(2, '0')}`]: '1' } },
          { shows: 'code' },
        ),
      ),
      read(at('h4')),
    ),
    each(
      'the name of the program',
      {
        verb: 'POST',
        path: CONFIG_MAPS,
        body: map('h5', { k: '1' }),
        headers: { 'user-agent': 'program/v1 (linux)' },
        shows: owned,
      },
      {
        verb: 'PATCH:merge',
        path: at('h5'),
        body: { data: { k: '2' } },
        headers: { 'user-agent': 'other' },
        shows: owned,
      },
    ),
    each('a program of a long name', {
      verb: 'POST',
      path: CONFIG_MAPS,
      body: map('h6', { k: '1' }),
      headers: { 'user-agent': 'x'.repeat(200) },
      shows: owned,
    }),
    each(
      'kubectl after its applies from the client',
      make(
        'kubectl-client-side-apply',
        CONFIG_MAPS,
        map(
          'k1',
          { k: '1', l: '1' },
          {
            annotations: {
              'kubectl.kubernetes.io/last-applied-configuration':
                '{"apiVersion":"v1","data":{"k":"1","l":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"k1","namespace":"$(ns)"}}\n',
            },
          },
        ),
      ),
      apply('kubectl', at('k1'), map('k1', { k: '2', l: '1' })),
      apply(
        'kubectl-last-applied',
        at('k1'),
        map('k1', undefined, { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'x' } }),
      ),
    ),
    each(
      'kubectl after a change by others',
      make(
        'kubectl-client-side-apply',
        CONFIG_MAPS,
        map(
          'k2',
          { k: '1', l: '1' },
          {
            annotations: {
              'kubectl.kubernetes.io/last-applied-configuration':
                '{"apiVersion":"v1","data":{"k":"1","l":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"k2"}}\n',
            },
          },
        ),
      ),
      change('m2', 'merge', at('k2'), { data: { l: '5' } }),
      apply('kubectl', at('k2'), map('k2', { k: '2', l: '2' })),
    ),
    each(
      'another manager has no such right',
      make(
        'kubectl-client-side-apply',
        CONFIG_MAPS,
        map(
          'k3',
          { k: '1' },
          {
            annotations: {
              'kubectl.kubernetes.io/last-applied-configuration':
                '{"apiVersion":"v1","data":{"k":"1"},"kind":"ConfigMap","metadata":{"name":"k3"}}\n',
            },
          },
        ),
      ),
      apply('mine', at('k3'), map('k3', { k: '2' })),
    ),
    each(
      'a note that is none',
      make(
        'kubectl-client-side-apply',
        CONFIG_MAPS,
        map('k4', { k: '1' }, { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'nonsense' } }),
      ),
      apply('kubectl', at('k4'), map('k4', { k: '2' })),
    ),
    each(
      'kubectl moves its ownership',
      make(
        'kubectl-client-side-apply',
        CONFIG_MAPS,
        map(
          'k5',
          { k: '1', l: '1' },
          {
            annotations: {
              'kubectl.kubernetes.io/last-applied-configuration':
                '{"apiVersion":"v1","data":{"k":"1","l":"1"},"kind":"ConfigMap","metadata":{"name":"k5"}}\n',
            },
          },
        ),
      ),
      apply('kubectl', at('k5'), map('k5', { k: '1' }), { keep: 'k5' }),
      change('kubectl', 'json', at('k5'), [
        {
          op: 'replace',
          path: '/metadata/managedFields',
          value: [
            {
              manager: 'kubectl',
              operation: 'Apply',
              apiVersion: 'v1',
              time: '2026-01-01T00:00:00Z',
              fieldsType: 'FieldsV1',
              fieldsV1: { 'f:data': { 'f:k': {}, 'f:l': {} } },
            },
          ],
        },
        { op: 'replace', path: '/metadata/resourceVersion', value: '$(k5.metadata.resourceVersion)' },
      ]),
      apply('kubectl', at('k5'), map('k5', { k: '1' })),
    ),
    each(
      'a stale version in a json patch',
      apply('m1', at('k6'), map('k6', { k: '1' }), { keep: 'k6' }),
      change('m2', 'merge', at('k6'), { data: { k: '2' } }),
      change('m2', 'json', at('k6'), [
        { op: 'replace', path: '/metadata/resourceVersion', value: '$(k6.metadata.resourceVersion)' },
      ]),
    ),
    each(
      'a lease',
      apply(
        'm1',
        '/apis/coordination.k8s.io/v1/namespaces/$(ns)/leases/l1',
        of('coordination.k8s.io/v1', 'Lease', 'l1', { spec: { holderIdentity: 'a', leaseDurationSeconds: 10 } }),
      ),
      apply(
        'm2',
        '/apis/coordination.k8s.io/v1/namespaces/$(ns)/leases/l1',
        of('coordination.k8s.io/v1', 'Lease', 'l1', { spec: { holderIdentity: 'b' } }),
      ),
    ),
    each(
      'owners in a list',
      apply('m1', at('z1'), map('z1', { k: '1' }, { labels: { in: 'list' } })),
      get(`${CONFIG_MAPS}?labelSelector=in%3Dlist`, {
        shows: (body) => (body as { items: unknown[] }).items.map(owners),
      }),
    ),
    each(
      'a deletion leaves them',
      apply('m1', at('z2'), map('z2', { k: '1' }, { finalizers: ['a.test/x'] })),
      remove(at('z2'), undefined, { shows: 'code' }),
      read(at('z2')),
      apply('m1', at('z2'), map('z2', { k: '1' }), { shows: 'code' }),
    ),
    each(
      'a name that is made up',
      make('m0', CONFIG_MAPS, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { generateName: 'gen-' },
        data: { k: '1' },
      }),
    ),
    each(
      'in YAML',
      patch(
        'apply',
        `${at('y1')}?fieldManager=m1`,
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y1\ndata:\n  k: "1"\n',
        { shows: owned },
      ),
    ),
    each(
      'without a name in the body',
      patch(
        'apply',
        `${at('y2')}?fieldManager=m1`,
        { apiVersion: 'v1', kind: 'ConfigMap', data: { k: '1' } },
        { shows: owned },
      ),
    ),
    each(
      'a PUT that makes one has an owner',
      put(
        '/apis/coordination.k8s.io/v1/namespaces/$(ns)/leases/l2?fieldManager=m1',
        of('coordination.k8s.io/v1', 'Lease', 'l2', { spec: { holderIdentity: 'a' } }),
        { shows: owned },
      ),
    ),
  ],
}
