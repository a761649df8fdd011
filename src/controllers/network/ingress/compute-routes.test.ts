import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EndpointSlice, Ingress, IngressClass, IngressSpec } from '../../../model/generated/api-groups.ts'
import type { Service, ServiceSpec } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeBackendTargets } from './compute-backend-targets.ts'
import { certificateNames, computeCertificates } from './compute-certificates.ts'
import { computeIngressStatus } from './compute-ingress-status.ts'
import { computeAnswerHeaders, computePassedHeaders, plainAddress } from './compute-passed-headers.ts'
import { computeTarget, findBackend } from './compute-route-match.ts'
import { computeRoutes, computeServed } from './compute-routes.ts'

const meta = (name: string, more: object = {}) => ({
  name,
  namespace: 'shop',
  uid: name,
  resourceVersion: '1',
  ...more,
})
const to = (name: string) => ({ service: { name, port: { number: 80 } } })

function ingress(name: string, spec: IngressSpec, more: object = {}): Live<Ingress> {
  return { metadata: meta(name, more), spec: { ingressClassName: 'own', ...spec } }
}

/** One with paths, as "Prefix /a" for the service "a". */
function withPaths(name: string, host: string | undefined, paths: Readonly<Record<string, string>>): Live<Ingress> {
  const list = Object.entries(paths).map(([path, service]) => {
    const [pathType = '', text = ''] = path.split(' ')
    return { pathType, path: text, backend: to(service) }
  })
  return ingress(name, { rules: [{ host, http: { paths: list } }] })
}

/** The service that a request to a URL goes to. */
function find(ingresses: readonly Live<Ingress>[], url: string): string | undefined {
  const [host = '', ...path] = url.split('/')
  const target = computeTarget(`/${path.join('/')}`, host)
  assert.ok(target)
  const backend = findBackend(computeRoutes(ingresses).table, target)
  return backend?.kind === 'service' ? backend.name : backend?.kind
}

describe('which service a request goes to', () => {
  const paths = {
    'Prefix /foo': 'prefix',
    'Prefix /foo/': 'slash',
    'Exact /foo/bar': 'exact',
    'Prefix /foo/bar': 'longer',
    'Prefix /aaa/bb': 'bb',
    'Exact /only': 'only',
    'ImplementationSpecific /own': 'own',
  }
  for (const [url, expected] of [
    ['a.example/foo', 'slash'],
    ['a.example/foo/', 'slash'],
    ['a.example/foo/x', 'slash'],
    ['a.example/foobar', undefined],
    ['a.example/FOO', undefined],
    ['a.example/foo/bar', 'exact'],
    ['a.example/foo/bar/', 'longer'],
    ['a.example/foo/bar?q=/only', 'exact'],
    ['a.example/aaa/bbb', undefined],
    ['a.example/aaa/bb', 'bb'],
    ['a.example/aaa/bb/', 'bb'],
    ['a.example/only', 'only'],
    ['a.example/only/', undefined],
    ['a.example/own/x', 'own'],
    ['a.example/', undefined],
    ['A.Example:8080/only', 'only'],
    ['a.example./only', 'only'],
    ['b.example/only', undefined],
    ['a.example/foo/../only', 'only'],
    ['a.example/foo/%2e%2E/only', 'only'],
    ['a.example/x/./../aaa/./bb/..', undefined],
    ['a.example/foo/%2e%2e', undefined],
  ] as const)
    test(`${url}: ${expected}`, () => assert.equal(find([withPaths('i', 'a.example', paths)], url), expected))

  test('every path, also where none is written', () => {
    for (const path of ['Prefix /', 'ImplementationSpecific ', 'ImplementationSpecific /'])
      assert.equal(find([withPaths('i', undefined, { [path]: 'all' })], 'any.example/x/y'), 'all')
  })

  const hosts = [
    withPaths('1', 'a.example', { 'Prefix /a': 'exact' }),
    withPaths('2', '*.example', { 'Prefix /': 'wildcard' }),
    withPaths('3', undefined, { 'Prefix /': 'all' }),
  ]
  for (const [url, expected] of [
    ['a.example/a', 'exact'],
    // A host without a path for it is not left for one that is less specific.
    ['a.example/b', undefined],
    ['b.example/b', 'wildcard'],
    ['c.b.example/', 'all'],
    ['example/', 'all'],
    ['.example/', 'all'],
    ['192.0.2.1/', 'all'],
    ['[2001:db8::1]:80/', 'all'],
    ['/', 'all'],
  ] as const)
    test(`of several hosts, ${url}: ${expected}`, () => assert.equal(find(hosts, url), expected))

  test('default backends: that of the host, then the oldest', () => {
    const own = ingress('1', { defaultBackend: to('own'), rules: [{ host: 'a.example' }] })
    const all = ingress('0', { defaultBackend: to('all') })
    assert.equal(find([all, own], 'a.example/x'), 'own')
    assert.equal(find([all, own], 'b.example/x'), 'all')
    assert.equal(find([own], 'b.example/x'), 'own')
    assert.equal(find([], 'b.example/x'), undefined)
  })

  test('a backend that is no service goes nowhere', () =>
    assert.equal(find([ingress('1', { defaultBackend: { resource: { kind: 'A', name: 'a' } } })], 'a/'), 'refused'))
})

describe('two Ingresses that want the same', () => {
  const older = withPaths('b', 'a.example', { 'Prefix /': 'old', 'Exact /': 'old' })
  const younger = withPaths('a', 'a.example', { 'Prefix /': 'new', 'Prefix /new': 'new' })
  test('the older one has it, the other one learns that and keeps the rest', () => {
    const { problems } = computeRoutes([older, younger])
    assert.deepEqual(
      problems.map((each) => [each.ingress.metadata.name, each.reason, each.message]),
      [['a', 'ConflictingPath', 'a.example, path /: it belongs to shop/b, which is older']],
    )
    assert.equal(find([older, younger], 'a.example/new'), 'new')
    assert.equal(find([older, younger], 'a.example/other'), 'old')
  })
  test('twice in one', () => {
    const backend = to('x')
    const paths = [
      { pathType: 'Prefix', path: '/', backend },
      { pathType: 'ImplementationSpecific', backend },
    ]
    const [problem] = computeRoutes([ingress('i', { rules: [{ http: { paths } }] })]).problems
    assert.match(problem?.message ?? '', /all hosts, path \/: it is there twice/)
  })
  test('two default backends', () => {
    const both = [ingress('1', { defaultBackend: to('a') }), ingress('2', { defaultBackend: to('b') })]
    assert.match(computeRoutes(both).problems[0]?.message ?? '', /belongs to shop\/1/)
  })
})

test('computeServed() takes those of our classes, by field or annotation, oldest first', () => {
  const classOf = (name: string, controller: string): Live<IngressClass> => ({
    metadata: meta(name),
    spec: { controller },
  })
  const classes = [classOf('own', 'deckhand.local/ingress'), classOf('other', 'example.com/x')]
  const old = { annotations: { 'kubernetes.io/ingress.class': 'own' } }
  const served = computeServed(
    [
      ingress('c', {}, { creationTimestamp: '2026-01-02T00:00:00Z' }),
      ingress('b', { ingressClassName: undefined }, { ...old, creationTimestamp: '2026-01-01T00:00:00Z' }),
      ingress('a', {}, { creationTimestamp: '2026-01-02T00:00:00Z' }),
      ingress('d', { ingressClassName: 'other' }),
      ingress('e', { ingressClassName: 'missing' }),
      ingress('f', { ingressClassName: undefined }),
      ingress('g', {}, { deletionTimestamp: '2026-01-02T00:00:00Z' }),
    ],
    classes,
  )
  assert.deepEqual(
    served.map(({ metadata }) => metadata.name),
    ['b', 'a', 'c'],
  )
})

describe('computeTarget()', () => {
  for (const [url, host, expected] of [
    ['/a?b=c', 'A.example:80', { authority: 'A.example:80', host: 'a.example', path: '/a', uri: '/a?b=c' }],
    ['http://b.example:1/x?y', 'a', { authority: 'b.example:1', host: 'b.example', path: '/x', uri: '/x?y' }],
    ['http://b.example?y', 'a', { authority: 'b.example', host: 'b.example', path: '/', uri: '/?y' }],
    ['*', 'a', { authority: 'a', host: 'a', path: '*', uri: '*' }],
    ['/', undefined, { authority: '', host: '', path: '/', uri: '/' }],
    ['/', 'user@a', undefined],
    ['/', 'a b', undefined],
    ['x', 'a', undefined],
  ] as const)
    test(`${url} at ${host}`, () => assert.deepEqual(computeTarget(url, host), expected))
})

describe('headers', () => {
  const target = computeTarget('/', 'a.example:8443')
  assert.ok(target)
  const from = { target, clientAddress: '192.0.2.9', protocol: 'https' as const, port: 443 }
  const added = [
    'X-Forwarded-For',
    '192.0.2.9',
    'X-Forwarded-Proto',
    'https',
    'X-Forwarded-Host',
    'a.example:8443',
    'X-Forwarded-Port',
    '443',
  ]
  test('of a request: what the client says of itself is not believed, what is about the connection stays here', () => {
    const raw = [
      'Host',
      'evil',
      'X-Forwarded-For',
      '10.0.0.1',
      'Forwarded',
      'for=1',
      'X-Real-IP',
      '1',
      'Accept',
      '*/*',
      'Connection',
      'close, X-Own, Content-Length',
      'X-Own',
      '1',
      'Keep-Alive',
      '5',
      'TE',
      'trailers',
      'Upgrade',
      'h2c',
      'Expect',
      '100-continue',
      'Cookie',
      'a=b',
      'Content-Length',
      '3',
    ]
    const kept = ['Accept', '*/*', 'Cookie', 'a=b', 'Content-Length', '3']
    assert.deepEqual(computePassedHeaders(raw, from), ['Host', 'a.example:8443', ...kept, ...added])
  })
  test('of an answer: all that are there twice too', () => {
    const raw = ['Set-Cookie', 'a=1', 'Transfer-Encoding', 'chunked', 'Set-Cookie', 'b=2', 'Connection', 'close']
    assert.deepEqual(computeAnswerHeaders(raw), ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'])
  })
  test('addresses of IPv4 are shown as such', () => {
    assert.deepEqual(['::ffff:192.0.2.1', '::1', undefined].map(plainAddress), ['192.0.2.1', '::1', ''])
  })
})

describe('computeBackendTargets()', () => {
  const service = (spec: ServiceSpec): Live<Service> => ({ metadata: meta('web'), spec })
  const slice = (
    name: string,
    ...endpoints: readonly (readonly [address: string, ready?: boolean, node?: string])[]
  ) => {
    const own: Live<EndpointSlice> = {
      metadata: meta(name),
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      endpoints: endpoints.map(([address, ready, nodeName = 'n1']) => ({
        addresses: [address],
        nodeName,
        conditions: { ready },
      })),
    }
    return own
  }
  const ports = [
    { name: 'http', port: 80, targetPort: 8080 },
    { name: 'udp', port: 53, protocol: 'UDP' },
  ]
  const find = (port: number | string, spec: ServiceSpec | undefined, ...slices: readonly Live<EndpointSlice>[]) => {
    const found = computeBackendTargets({ name: 'web', port }, spec && service(spec), slices, 'n1')
    return found.kind === 'problem' ? found.why : found.targets.map(({ address, port: own }) => `${address}:${own}`)
  }
  test('the ready ones, by number or name of the port', () => {
    const slices = [slice('1', ['10.0.0.1', true], ['10.0.0.2', false]), slice('2', ['10.0.0.3'])]
    assert.deepEqual(find(80, { ports }, ...slices), ['10.0.0.1:8080', '10.0.0.3:8080'])
    assert.deepEqual(find('http', { ports }, ...slices), ['10.0.0.1:8080', '10.0.0.3:8080'])
  })
  test('those of the node where the service says so', () => {
    const own = slice('1', ['10.0.0.1', true, 'n2'], ['10.0.0.2', true])
    assert.deepEqual(find(80, { ports, internalTrafficPolicy: 'Local' }, own), ['10.0.0.2:8080'])
  })
  test('what can never work', () => {
    assert.equal(find(80, undefined), 'the service web does not exist')
    assert.equal(find(81, { ports }), 'the service web has no port 81')
    assert.equal(find('x', { ports }), 'the service web has no port x')
    assert.match(String(find('udp', { ports })), /not one of TCP/)
    assert.match(String(find(80, { type: 'ExternalName', ports })), /outside of the node/)
    assert.deepEqual(find(80, { ports }), [])
  })
})

describe('certificates', () => {
  test('are for the hosts that they name, else for those of the rules; the older one counts', () => {
    const { uses, problems } = computeCertificates([
      ingress('1', { tls: [{ hosts: ['a.example', '*.b.example'], secretName: 's1' }] }),
      ingress('2', { tls: [{ secretName: 's2' }], rules: [{ host: 'c.example' }, { host: 'a.example' }] }),
      ingress('3', { tls: [{ secretName: 's3' }, { hosts: ['d.example'] }] }),
      ingress('4', { tls: [{ hosts: ['a.example'], secretName: 's1' }] }),
    ])
    assert.deepEqual(
      [...uses].map(([host, { secretName }]) => `${host}=${secretName}`),
      ['a.example=s1', '*.b.example=s1', 'c.example=s2', '=s3'],
    )
    assert.deepEqual(
      problems.map(({ message }) => message),
      ['a.example: the certificate is that of shop/1, which is older'],
    )
  })
  test('are looked up by name, then for its neighbours, then for all', () => {
    assert.deepEqual(certificateNames('X.a.Example.'), ['x.a.example', '*.a.example', ''])
    assert.deepEqual(certificateNames(''), ['', ''])
  })
})

test('computeIngressStatus() has addresses that others reach, with the ports', () => {
  const addresses = [
    { type: 'InternalIP', address: '192.0.2.1' },
    { type: 'InternalIP', address: '127.0.0.1' },
    { type: 'Hostname', address: 'n' },
  ]
  const ports = [
    { port: 80, protocol: 'TCP' },
    { port: 443, protocol: 'TCP' },
  ]
  assert.deepEqual(computeIngressStatus({ status: { addresses } }, [80, 443]), [{ ip: '192.0.2.1', ports }])
  assert.deepEqual(computeIngressStatus(undefined, [80]), [])
})
