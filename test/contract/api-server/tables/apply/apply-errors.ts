import { each, patch, post, put } from '../../contract-case.ts'
import type { ContractTable } from '../../contract-case.ts'
import { CONFIG_MAPS, configMap, container, core, of, PODS, pod } from '../objects.ts'
import { apply, change } from './owned.ts'

const at = (name: string) => `${CONFIG_MAPS}/${name}`
const podAt = (name: string) => `${PODS}/${name}`
const podOfContainers = (name: string, ...containers: readonly object[]) => pod(name, { containers })

/** Applies that are wrong. */
export const applyErrors: ContractTable = {
  name: 'apply-errors',
  cases: [
    each('no manager', patch('apply', at('a1'), configMap('a1'))),
    each('an empty manager', patch('apply', `${at('a1')}?fieldManager=`, configMap('a1'))),
    each('a manager that is too long', apply('x'.repeat(129), at('a1'), configMap('a1'))),
    each('a manager of the longest name', apply('x'.repeat(128), at('a2'), configMap('a2', { k: '1' }))),
    each('a manager with a new line', apply('a%0Ab', at('a1'), configMap('a1'))),
    each('a manager with a space', apply('a%20b', at('a3'), configMap('a3', { k: '1' }))),
    each(
      'force in a merge patch',
      post(CONFIG_MAPS, configMap('b1'), { shows: 'code' }),
      patch('merge', `${at('b1')}?force=true`, { data: { k: '1' } }),
    ),
    each(
      'a manager that is too long in a POST',
      post(`${CONFIG_MAPS}?fieldManager=${'x'.repeat(129)}`, configMap('b2')),
    ),
    each('a manager that is too long in a PUT', put(`${at('b1')}?fieldManager=${'x'.repeat(129)}`, configMap('b1'))),
    each('a manager that is too long in a patch', change('x'.repeat(129), 'merge', at('b1'), { data: { k: '1' } })),
    each('an unknown field', apply('m1', at('c1'), { ...configMap('c1'), foo: 'x' })),
    each(
      'an unknown field, ignored',
      apply('m1', `${at('c1')}?fieldValidation=Ignore`, { ...configMap('c1'), foo: 'x' }),
    ),
    each(
      'an unknown field, strict',
      apply('m1', `${at('c1')}?fieldValidation=Strict`, { ...configMap('c1'), foo: 'x' }),
    ),
    each('an unknown field of a pod', apply('m1', podAt('p1'), pod('p1', { foo: 1 }))),
    each('an unknown field of a container', apply('m1', podAt('p1'), podOfContainers('p1', container({ foo: 1 })))),
    each(
      'a validation that is none',
      apply('m1', `${at('c1')}?fieldValidation=Maybe`, configMap('c1'), { shows: 'code' }),
    ),
    each('a dry run that is none', apply('m1', `${at('c1')}?dryRun=Some`, configMap('c1'), { shows: 'code' })),
    each('owners in the body', apply('m1', at('c2'), configMap('c2', { k: '1' }, { managedFields: [] }))),
    each(
      'an entry of owners in the body',
      apply('m1', at('c2'), configMap('c2', { k: '1' }, { managedFields: [{ manager: 'x' }] })),
    ),
    each('another kind', apply('m1', at('c3'), core('Secret', 'c3'))),
    each('another group', apply('m1', at('c3'), of('apps/v1', 'ConfigMap', 'c3'))),
    each('no kind', apply('m1', at('c3'), { apiVersion: 'v1', metadata: { name: 'c3' } })),
    each('no version', apply('m1', at('c3'), { kind: 'ConfigMap', metadata: { name: 'c3' } })),
    each('an empty body', patch('apply', `${at('c3')}?fieldManager=m1`, '')),
    each('a body that is no YAML', patch('apply', `${at('c3')}?fieldManager=m1`, '{"a', { shows: 'code' })),
    each('a body that is a list', patch('apply', `${at('c3')}?fieldManager=m1`, '[]', { shows: 'code' })),
    each('another name', apply('m1', at('c4'), configMap('c5'))),
    each('another namespace', apply('m1', at('c4'), configMap('c4', undefined, { namespace: 'other' }))),
    each('a number for a text', apply('m1', at('d1'), configMap('d1', { k: 1 }), { shows: 'code' })),
    each('a text for a number', apply('m1', podAt('d2'), pod('d2', { priority: 'x' }))),
    each('a text for a truth', apply('m1', podAt('d2'), pod('d2', { hostNetwork: 'x' }))),
    each('a text for a list', apply('m1', podAt('d2'), pod('d2', { containers: 'x' }))),
    each('a text for a map', apply('m1', podAt('d2'), { ...pod('d2'), spec: 'x' })),
    each('a list for a map', apply('m1', at('d3'), { ...configMap('d3'), data: ['x'] })),
    each('a map for a text', apply('m1', podAt('d2'), pod('d2', { nodeName: { a: 'b' } }), { shows: 'code' })),
    each('two containers of one name', apply('m1', podAt('d4'), podOfContainers('d4', container(), container()))),
    each(
      'two variables of one name',
      apply(
        'm1',
        podAt('d4'),
        podOfContainers(
          'd4',
          container({
            env: [
              { name: 'X', value: '1' },
              { name: 'X', value: '2' },
            ],
          }),
        ),
      ),
    ),
    each(
      'two ports that are the same',
      apply(
        'm1',
        podAt('d4'),
        podOfContainers('d4', container({ ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'TCP' }] })),
      ),
    ),
    each(
      'a container without a name',
      apply('m1', podAt('d5'), podOfContainers('d5', { image: 'registry.test/app:1' })),
    ),
    each('a container that is null', apply('m1', podAt('d5'), pod('d5', { containers: [null] }))),
    each('a container that is a text', apply('m1', podAt('d5'), pod('d5', { containers: ['x'] }))),
    each('a finalizer that is a map', apply('m1', at('d6'), configMap('d6', undefined, { finalizers: [{ a: 'b' }] }))),
    each('a finalizer that is null', apply('m1', at('d6'), configMap('d6', undefined, { finalizers: [null] }))),
    each(
      'several things at once',
      apply('m1', podAt('d7'), podOfContainers('d7', container({ stdin: 'y' }), container({ name: 'b', tty: ['z'] }))),
    ),
    each('an invalid object', apply('m1', podAt('d8'), pod('d8', { restartPolicy: 'Sometimes' }))),
    each('an invalid name', apply('m1', at('A_B'), configMap('A_B'))),
    each(
      'a namespace that is not there',
      apply('m1', '/api/v1/namespaces/nowhere/configmaps/x', configMap('x', undefined, { namespace: 'nowhere' })),
    ),
    each('a subresource of nothing', apply('m1', `${podAt('nothing')}/status`, pod('nothing'))),
    each(
      'a status of nothing',
      apply(
        'm1',
        '/apis/apps/v1/namespaces/$(ns)/deployments/nothing/scale',
        of('autoscaling/v1', 'Scale', 'nothing', { spec: { replicas: 2 } }),
      ),
    ),
    each(
      'a key that is there twice',
      patch(
        'apply',
        `${at('e1')}?fieldManager=m1`,
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: e1\ndata:\n  k: "1"\n  k: "2"\n',
      ),
    ),
    each(
      'a key that is there twice, strict',
      patch(
        'apply',
        `${at('e2')}?fieldManager=m1&fieldValidation=Strict`,
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: e2\ndata:\n  k: "1"\n  k: "2"\n',
      ),
    ),
    each(
      'a key that is there twice, ignored',
      patch(
        'apply',
        `${at('e3')}?fieldManager=m1&fieldValidation=Ignore`,
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: e3\ndata:\n  k: "1"\n  k: "2"\n',
      ),
    ),
    each('a stranger', apply('m1', at('f1'), configMap('f1'), { user: 'stranger', shows: 'code' })),
    each('a list', apply('m1', CONFIG_MAPS, configMap('f1'), { shows: 'code' })),
    each('in CBOR', {
      verb: 'PATCH:apply',
      path: `${at('f2')}?fieldManager=m1`,
      body: configMap('f2'),
      headers: { 'content-type': 'application/apply-patch+cbor' },
      shows: 'code',
    }),
  ],
}
