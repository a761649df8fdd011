import { each, get, patch, post, put, remove } from '../contract-case.ts'
import type { ContractTable } from '../contract-case.ts'
import { of } from './objects.ts'
import { row } from './tables-of-kinds.ts'

type Fields = Readonly<Record<string, unknown>>

const GROUP = 'networking.k8s.io/v1'
const INGRESSES = `/apis/${GROUP}/namespaces/$(ns)/ingresses`
const CLASSES = `/apis/${GROUP}/ingressclasses`
const OWN = `${INGRESSES}/a`
const CLASS = 'contract-class'
const OWN_CLASS = `${CLASSES}/${CLASS}`

const ingress = (spec: Fields, metadata: Fields = {}) => of(GROUP, 'Ingress', 'a', { spec }, metadata)
const backend = { service: { name: 'web', port: { number: 80 } } }
const path = (fields: Fields) => ({ pathType: 'Prefix', path: '/', backend, ...fields })
const rule = (...paths: readonly Fields[]) => ingress({ rules: [{ http: { paths } }] })
const host = (name: string) => ingress({ rules: [{ host: name, http: { paths: [path({})] } }] })
const onward = (fields: Fields) => ingress({ defaultBackend: fields })
const tls = (...list: readonly Fields[]) => ingress({ defaultBackend: backend, tls: list })

const rows: readonly (readonly [name: string, body: object])[] = [
  ['with a default backend', onward(backend)],
  ['without a spec', of(GROUP, 'Ingress', 'a')],
  ['without rules', ingress({ rules: [] })],
  ['with a rule of nothing', ingress({ rules: [{}] })],
  ['with a rule for a host alone', ingress({ rules: [{ host: 'a.example' }] })],
  ['with a host', host('a.example')],
  ['with a host of many hosts', host('*.a.example')],
  ['with a host of all', host('*')],
  ['with a star in a host', host('a.*.example')],
  ['with a star before a label', host('*a.example')],
  ['with a host in capitals', host('A.example')],
  ['with a port in a host', host('a.example:80')],
  ['with an address as its host', host('192.0.2.1')],
  ['with an address of IPv6 as its host', host('2001:db8::1')],
  ['with no paths', rule()],
  [
    'with all kinds of paths',
    rule(path({}), path({ pathType: 'Exact', path: '/a' }), path({ pathType: 'ImplementationSpecific' })),
  ],
  ['with a path without a kind', ingress({ rules: [{ http: { paths: [{ path: '/', backend }] } }] })],
  ['with a path of a kind that is none', rule(path({ pathType: 'Regex' }))],
  ['with a path that is not from the root', rule(path({ path: 'a' }))],
  ['with no path', rule(path({ path: undefined }))],
  ['with no path of its own kind', rule({ pathType: 'ImplementationSpecific', backend })],
  [
    'with a path of its own kind that is not from the root',
    rule(path({ pathType: 'ImplementationSpecific', path: 'a' })),
  ],
  [
    'with a path of its own kind with odd parts',
    rule(path({ pathType: 'ImplementationSpecific', path: '/a//../%2f' })),
  ],
  ['with two slashes', rule(path({ path: '/a//b' }))],
  ['with a dot in a path', rule(path({ path: '/a/./b' }))],
  ['with dots in a path', rule(path({ path: '/a/../b' }))],
  ['with a slash in disguise', rule(path({ path: '/a%2fb' }), path({ path: '/a%2Fb' }))],
  ['with dots at the end', rule(path({ path: '/a/..' }), path({ path: '/a/.', pathType: 'Exact' }))],
  ['with a backend of nothing', onward({})],
  ['with a path to nothing', rule(path({ backend: {} }))],
  ['with a port by its name', onward({ service: { name: 'web', port: { name: 'http' } } })],
  ['with both names of a port', onward({ service: { name: 'web', port: { name: 'http', number: 80 } } })],
  ['without a port', onward({ service: { name: 'web' } })],
  ['with a port of nothing', onward({ service: { name: 'web', port: {} } })],
  ['with a port too large', onward({ service: { name: 'web', port: { number: 65_536 } } })],
  ['with a bad name of a port', onward({ service: { name: 'web', port: { name: 'a_b' } } })],
  ['without the name of a service', onward({ service: { port: { number: 80 } } })],
  ['with a bad name of a service', onward({ service: { name: 'a.b', port: { number: 80 } } })],
  ['with a digit before the name of a service', onward({ service: { name: '1a', port: { number: 80 } } })],
  ['with a resource', onward({ resource: { apiGroup: 'example.com', kind: 'Bucket', name: 'b' } })],
  ['with a resource without a kind and a name', onward({ resource: { apiGroup: 'A' } })],
  ['with a resource in a path', onward({ resource: { kind: 'a/b', name: '..' } })],
  ['with a service and a resource', onward({ ...backend, resource: { kind: 'Bucket', name: 'b' } })],
  ['with certificates', tls({ hosts: ['a.example', '*.b.example'], secretName: 'c' }, { hosts: ['d.example'] }, {})],
  ['with bad hosts of a certificate', tls({ hosts: ['A', '*', '', '*.*.a'] })],
  ['with a bad secret', tls({ secretName: 'A_b' })],
  ['with a bad class', ingress({ defaultBackend: backend, ingressClassName: 'A' })],
  ['with an empty class', ingress({ defaultBackend: backend, ingressClassName: '' })],
  ['with an unknown field', ingress({ defaultBackend: backend, other: 1 })],
  [
    'with the old name of a class',
    ingress({ defaultBackend: backend }, { annotations: { 'kubernetes.io/ingress.class': 'b' } }),
  ],
  [
    'with two classes',
    ingress(
      { defaultBackend: backend, ingressClassName: 'c' },
      { annotations: { 'kubernetes.io/ingress.class': 'b' } },
    ),
  ],
]

const classOf = (spec: Fields, annotations?: Fields) =>
  of(GROUP, 'IngressClass', CLASS, { spec }, annotations === undefined ? {} : { annotations })
const controller = 'example.com/ingress'
const parameters = (fields: Fields) => classOf({ controller, parameters: fields })

const classRows: readonly (readonly [name: string, body: object])[] = [
  ['of a controller', classOf({ controller })],
  ['without a controller', classOf({})],
  ['of a controller without a domain', classOf({ controller: 'ingress' })],
  ['of a controller of a domain alone', classOf({ controller: 'example.com/' })],
  ['of a controller of a bad domain', classOf({ controller: 'A/b' })],
  ['of a controller with a space', classOf({ controller: 'example.com/a b' })],
  ['of a controller that is too long', classOf({ controller: `example.com/${'a'.repeat(250)}` })],
  ['with parameters', parameters({ apiGroup: 'example.com', kind: 'A', name: 'a' })],
  ['with parameters of a namespace', parameters({ kind: 'A', name: 'a', scope: 'Namespace', namespace: 'b' })],
  ['with parameters of no namespace', parameters({ kind: 'A', name: 'a', scope: 'Namespace' })],
  ['with parameters of a bad namespace', parameters({ kind: 'A', name: 'a', scope: 'Namespace', namespace: 'B' })],
  ['with parameters of all with a namespace', parameters({ kind: 'A', name: 'a', scope: 'Cluster', namespace: 'b' })],
  ['with parameters of another scope', parameters({ kind: 'A', name: 'a', scope: 'Other' })],
  ['with parameters of nothing', parameters({})],
  ['with bad parameters', parameters({ apiGroup: '-', kind: 'a/b', name: '.' })],
]

/** Ingresses and their classes: what they get besides, or which rules they break; how they change and are shown. */
export const ingresses: ContractTable = {
  name: 'ingresses',
  cases: [
    ...rows.map(([name, body]) =>
      each(`ingress ${name}`, post(INGRESSES, body), remove(OWN, undefined, { shows: 'code' })),
    ),
    ...classRows.map(([name, body]) =>
      each(`class ${name}`, post(CLASSES, body), remove(OWN_CLASS, undefined, { shows: 'code' })),
    ),
    each(
      'an ingress changes',
      post(INGRESSES, { ...onward(backend), status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }),
      patch('merge', OWN, { spec: { ingressClassName: 'b' } }),
      patch('merge', OWN, { metadata: { annotations: { 'kubernetes.io/ingress.class': 'c' } } }),
      patch('merge', OWN, { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }),
      patch('merge', `${OWN}/status`, {
        status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', ports: [{ port: 80, protocol: 'TCP' }] }] } },
      }),
      patch('merge', `${OWN}/status`, { status: { loadBalancer: { ingress: [{ ip: 'a' }] } } }),
      patch('merge', `${OWN}/status`, { status: { loadBalancer: { ingress: [{ hostname: 'A' }] } } }),
      patch('merge', `${OWN}/status`, { status: { loadBalancer: { ingress: [{ hostname: '192.0.2.1' }] } } }),
      patch('merge', OWN, { spec: { defaultBackend: null } }),
      get(`${OWN}/status`),
      remove(OWN),
    ),
    each(
      'a class changes',
      post(CLASSES, classOf({ controller })),
      patch('merge', OWN_CLASS, { spec: { controller: 'example.com/other' } }),
      patch('merge', OWN_CLASS, { spec: { parameters: { kind: 'A', name: 'a' } } }),
      put(OWN_CLASS, classOf({ controller, parameters: { kind: 'B', name: 'b' } })),
      get(`${OWN_CLASS}/status`, { shows: 'code' }),
      remove(OWN_CLASS),
    ),
    each(
      'an ingress without a class gets the default one when it is made',
      post(CLASSES, classOf({ controller }, { 'ingressclass.kubernetes.io/is-default-class': 'true' })),
      post(INGRESSES, onward(backend)),
      patch('merge', OWN, { spec: { ingressClassName: null } }),
      remove(OWN, undefined, { shows: 'code' }),
      post(INGRESSES, ingress({ defaultBackend: backend }, { annotations: { 'kubernetes.io/ingress.class': 'b' } })),
      remove(OWN, undefined, { shows: 'code' }),
      remove(OWN_CLASS, undefined, { shows: 'code' }),
    ),
    row('ingress for all', INGRESSES, onward(backend)),
    row(
      'ingress for many hosts',
      INGRESSES,
      ingress({
        ingressClassName: 'b',
        tls: [{}],
        rules: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ host: name, http: { paths: [path({})] } })),
      }),
    ),
    row('class as a row', CLASSES, parameters({ apiGroup: 'example.com', kind: 'A', name: 'a' })),
  ],
}
