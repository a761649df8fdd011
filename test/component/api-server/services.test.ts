import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { call } from './api-client.ts'
import type { Answer } from './api-client.ts'
import { createTestApi } from './create-test-api.ts'
import type { TestApi } from './create-test-api.ts'

const SERVICES = '/api/v1/namespaces/default/services'
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'

/** An API of its own, with helpers. */
function useApi(serviceRange: string) {
  let server: TestApi
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-services-'))
  before(async () => {
    server = await createTestApi({ folder, serviceRange })
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })
  const api = async (method: string, path: string, body?: unknown): Promise<Answer> =>
    await call(server.api, method, path, body === undefined ? {} : { body })
  const create = (name: string, spec: object = {}) =>
    api('POST', SERVICES, { metadata: { name }, spec: { ports: [{ port: 80 }], selector: { app: name }, ...spec } })
  const change = async (name: string, alter: (spec: Answer['body']) => object) => {
    const service = (await api('GET', `${SERVICES}/${name}`)).body
    return await api('PUT', `${SERVICES}/${name}`, { ...service, spec: alter(service.spec) })
  }
  const restart = async () => {
    await server[Symbol.asyncDispose]()
    server = await createTestApi({ folder, serviceRange })
  }
  return { api, create, change, restart }
}

describe('services of one family', () => {
  const { api, create, change, restart } = useApi('10.96.0.0/28')

  test('a plain one gets all that it does not say', async () => {
    const { spec, status } = (await create('plain')).body
    assert.deepEqual(
      { ...spec, clusterIP: undefined, clusterIPs: spec.clusterIPs.length },
      {
        type: 'ClusterIP',
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        clusterIP: undefined,
        clusterIPs: 1,
        selector: { app: 'plain' },
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      },
    )
    assert.deepEqual(status, { loadBalancer: {} })
    await api('DELETE', `${SERVICES}/plain`)
  })

  test('no more than the range has, and a freed address is free at once', async () => {
    const made: string[] = []
    for (let index = 0; index < 13; index++) made.push((await create(`full-${index}`)).body.spec.clusterIP)
    assert.equal(new Set(made).size, 13)
    const full = await create('one-more')
    assert.deepEqual([full.status, /range 10\.96\.0\.0\/28 is full/.test(full.body.message)], [500, true])
    await api('DELETE', `${SERVICES}/full-3`)
    assert.equal((await create('one-more')).body.spec.clusterIP, made[3])
    await api('DELETE', SERVICES)
  })

  test('that of the API comes back with its address', async () => {
    await api('DELETE', `${SERVICES}/kubernetes`)
    assert.equal((await api('GET', `${SERVICES}/kubernetes`)).body.spec.clusterIP, '10.96.0.1')
  })

  test('an address is taken by one service alone, and by none that was refused or only tried', async () => {
    for (let index = 0; index < 20; index++) {
      const tried = await api('POST', `${SERVICES}?dryRun=All`, {
        metadata: { name: `tried-${index}` },
        spec: { ports: [{ port: 80 }] },
      })
      assert.equal(tried.status, 201)
      assert.equal((await create(`bad-${index}`, { ports: [{ port: 0 }] })).status, 422)
    }
    assert.equal((await create('first', { clusterIP: '10.96.0.10' })).body.spec.clusterIP, '10.96.0.10')
    const second = await create('second', { clusterIP: '10.96.0.10' })
    assert.equal(second.status, 422)
    assert.match(second.body.message, /spec\.clusterIPs: .*provided IP is already allocated/)
    await restart()
    assert.equal((await create('second', { clusterIP: '10.96.0.10' })).status, 422)
    for (let index = 0; index < 12; index++) assert.equal((await create(`more-${index}`)).status, 201)
    assert.equal((await create('too-many')).status, 500)
    await api('DELETE', SERVICES)
  })

  test('a status comes from those who report it, not with the service', async () => {
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } }
    const made = await api('POST', SERVICES, {
      metadata: { name: 'told' },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
      status,
    })
    assert.deepEqual(made.body.status, { loadBalancer: {} })
    const changed = await api('PUT', `${SERVICES}/told`, { ...made.body, status })
    assert.deepEqual(changed.body.status, { loadBalancer: {} })
    await api('DELETE', SERVICES)
  })

  test('node ports: chosen, of both protocols, kept, freed', async () => {
    const low = await create('low', { type: 'NodePort', ports: [{ port: 80, nodePort: 29_999 }] })
    assert.match(low.body.message, /not in the valid range\. The range of valid ports is 30000-32767/)
    const ports = [
      { name: 'tcp', port: 53, protocol: 'TCP' },
      { name: 'udp', port: 53, protocol: 'UDP' },
    ]
    const both = (await create('both', { type: 'NodePort', ports })).body.spec.ports
    assert.equal(both[0].nodePort, both[1].nodePort)
    assert.ok(both[0].nodePort >= 30_086)
    const taken = [{ port: 1, protocol: 'SCTP', nodePort: both[0].nodePort }]
    assert.equal((await create('other', { type: 'NodePort', ports: taken })).status, 422)
    const kept = await change('both', (spec) => ({ ...spec, ports: ports.map((port) => ({ ...port })) }))
    assert.equal(kept.body.spec.ports[1].nodePort, both[0].nodePort)
    const plain = await change('both', (spec) => ({ ...spec, type: 'ClusterIP' }))
    assert.deepEqual(
      [plain.status, plain.body.spec.ports[0].nodePort, plain.body.spec.externalTrafficPolicy],
      [200, undefined, undefined],
    )
    assert.equal((await create('other', { type: 'NodePort', ports: taken })).status, 201)
    await api('DELETE', SERVICES)
  })

  test('an address is given up for an external name, and another one comes back', async () => {
    const before = (await create('named')).body.spec.clusterIP as string
    const external = await change('named', (spec) => ({ ...spec, type: 'ExternalName', externalName: 'a.example' }))
    assert.deepEqual([external.status, external.body.spec.clusterIPs], [200, undefined])
    assert.equal((await create('next', { clusterIP: before })).status, 201)
    const back = await change('named', (spec) => ({ ...spec, type: 'ClusterIP', externalName: undefined }))
    assert.equal(back.status, 200)
    assert.notEqual(back.body.spec.clusterIP, before)
    await api('DELETE', SERVICES)
  })

  test('two families are refused, preferred ones are one, and a headless one without a selector has both', async () => {
    const required = await create('required', { ipFamilyPolicy: 'RequireDualStack' })
    assert.match(required.body.message, /this cluster is not configured for dual-stack services/)
    const preferred = (await create('preferred', { ipFamilyPolicy: 'PreferDualStack' })).body.spec
    assert.deepEqual([preferred.ipFamilies, preferred.clusterIPs.length], [['IPv4'], 1])
    const loose = (await create('loose', { clusterIP: 'None', selector: undefined })).body.spec
    assert.deepEqual([loose.ipFamilies, loose.ipFamilyPolicy], [['IPv4', 'IPv6'], 'RequireDualStack'])
    assert.match((await create('six', { ipFamilies: ['IPv6'] })).body.message, /not configured on this cluster/)
    assert.match((await create('only', { clusterIPs: ['10.96.0.9'] })).body.message, /must be empty when `clusterIP`/)
    await api('DELETE', SERVICES)
  })

  test('balancers: a port for health checks, which stays, and what their controller reports', async () => {
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }
    const { spec } = (await create('lb', local)).body
    assert.ok(spec.healthCheckNodePort >= 30_000)
    assert.equal((await change('lb', (old) => ({ ...old, healthCheckNodePort: 30_500 }))).status, 422)
    assert.equal((await change('lb', (old) => ({ ...old, loadBalancerClass: 'a/b' }))).status, 422)
    const service = (await api('GET', `${SERVICES}/lb`)).body
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }
    const reported = await api('PUT', `${SERVICES}/lb/status`, { ...service, status })
    assert.deepEqual(reported.body.status.loadBalancer.ingress, [{ ip: '192.0.2.1', ipMode: 'VIP' }])
    const plain = await change('lb', (old) => ({ ...old, type: 'ClusterIP' }))
    assert.deepEqual(
      [
        plain.status,
        plain.body.status,
        plain.body.spec.healthCheckNodePort,
        plain.body.spec.allocateLoadBalancerNodePorts,
      ],
      [200, { loadBalancer: {} }, undefined, undefined],
    )
    await api('DELETE', SERVICES)
  })

  const refused: readonly (readonly [what: string, spec: object, message: RegExp])[] = [
    ['no ports', { ports: [] }, /spec\.ports: Required value/],
    ['two ports without names', { ports: [{ port: 1 }, { port: 2 }] }, /spec\.ports\[0\]\.name: Required value/],
    [
      'a port twice',
      {
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 1 },
        ],
      },
      /spec\.ports\[1\]: Duplicate value/,
    ],
    ['a headless balancer', { type: 'LoadBalancer', clusterIP: 'None' }, /may not be set to 'None' for LoadBalancer/],
    ['a policy for those outside', { externalTrafficPolicy: 'Local' }, /externally-accessible services/],
    [
      'ranges of sources',
      { loadBalancerSourceRanges: ['10.0.0.0/8'] },
      /may only be used when `type` is 'LoadBalancer'/,
    ],
    ['an address of loopback', { externalIPs: ['127.0.0.1'] }, /may not be in the loopback range/],
    [
      'a session of no time',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
      /between 1 and 86400/,
    ],
    ['an unknown distribution', { trafficDistribution: 'Far' }, /Unsupported value: "Far"/],
    ['a name without a name', { type: 'ExternalName', ports: [] }, /spec\.externalName: Required value/],
    [
      'a node port of its own',
      { ports: [{ port: 80, nodePort: 30_001 }] },
      /may not be used when `type` is 'ClusterIP'/,
    ],
  ]
  for (const [what, spec, message] of refused) {
    test(`${what} is refused`, async () => {
      const { status, body } = await create('refused', spec)
      assert.equal(status, 422)
      assert.match(body.message, message)
    })
  }
})

describe('services of two families', () => {
  const { api, create, change } = useApi('10.96.0.0/24,fd00:96::/112')

  test('get what they ask for, and give the second back', async () => {
    const { spec } = (await create('dual', { ipFamilyPolicy: 'PreferDualStack' })).body
    assert.deepEqual([spec.ipFamilies, spec.clusterIPs.length], [['IPv4', 'IPv6'], 2])
    assert.match(spec.clusterIPs[1], /^fd00:96::/)
    const less = await change('dual', (old) => ({ ...old, clusterIPs: old.clusterIPs.slice(0, 1) }))
    assert.match(less.body.message, /must be 'SingleStack' to release the secondary cluster IP/)
    const single = await change('dual', (old) => ({ ...old, ipFamilyPolicy: 'SingleStack' }))
    assert.deepEqual([single.body.spec.ipFamilies, single.body.spec.clusterIPs], [['IPv4'], [spec.clusterIP]])
    const six = (await create('six', { ipFamilies: ['IPv6'] })).body.spec
    assert.deepEqual([six.ipFamilies, six.clusterIPs[0].startsWith('fd00:96::')], [['IPv6'], true])
    const turned = await change('six', (old) => ({ ...old, ipFamilies: ['IPv4'] }))
    assert.equal(turned.status, 422)
    await api('DELETE', SERVICES)
  })
})

describe('endpoint slices', () => {
  const { api } = useApi('10.96.0.0/24')
  const slice = (fields: object) => ({ metadata: { name: 'web-1' }, addressType: 'IPv4', endpoints: [], ...fields })

  test('count their changes, and keep the type of their addresses', async () => {
    const made = await api('POST', SLICES, slice({ ports: [{ port: 80 }], endpoints: [{ addresses: ['10.0.0.5'] }] }))
    assert.deepEqual([made.status, made.body.metadata.generation], [201, 1])
    assert.deepEqual(made.body.ports, [{ name: '', port: 80, protocol: 'TCP' }])
    const changed = await api('PUT', `${SLICES}/web-1`, { ...made.body, endpoints: [] })
    assert.equal(changed.body.metadata.generation, 2)
    const other = await api('PUT', `${SLICES}/web-1`, { ...changed.body, addressType: 'IPv6' })
    assert.match(other.body.message, /addressType: Invalid value: "IPv6": field is immutable/)
  })

  for (const [what, fields, message] of [
    ['an unknown type of addresses', { addressType: 'IPX' }, /Unsupported value: "IPX"/],
    ['an address of the other family', { endpoints: [{ addresses: ['fd00::1'] }] }, /must be an IPv4 address/],
    ['an endpoint at loopback', { endpoints: [{ addresses: ['127.0.0.1'] }] }, /loopback range/],
    ['an endpoint at no address', { endpoints: [{ addresses: [] }] }, /must contain at least 1 address/],
    ['two ports of one name', { ports: [{ port: 1 }, { port: 2 }] }, /ports\[1\]\.name: Duplicate value/],
  ] as const) {
    test(`${what} is refused`, async () => {
      const { status, body } = await api('POST', SLICES, slice({ metadata: { name: 'bad' }, ...fields }))
      assert.equal(status, 422)
      assert.match(body.message, message)
    })
  }
})
