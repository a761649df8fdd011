import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EndpointSlice } from '../../../model/generated/api-groups.ts'
import type { Pod, Service, ServiceSpec } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeClusterAnswer } from './compute-cluster-answer.ts'
import { computeClusterZone } from './compute-cluster-zone.ts'

const meta = (name: string, labels = {}) => ({ name, namespace: 'shop', uid: name, resourceVersion: '1', labels })
const service = (name: string, spec: ServiceSpec): Live<Service> => ({ metadata: meta(name), spec })
const slice = (name: string, endpoints: EndpointSlice['endpoints']): Live<EndpointSlice> => ({
  metadata: meta(`${name}-1`, { 'kubernetes.io/service-name': name }),
  addressType: 'IPv4',
  endpoints,
  ports: [{ name: 'db', port: 5432, protocol: 'TCP' }],
})
const pod: Live<Pod> = {
  metadata: meta('p'),
  spec: { containers: [] },
  status: { podIPs: [{ ip: '10.1.0.7' }, { ip: 'fd00::7' }] },
}

const zone = computeClusterZone({
  domain: 'cluster.local',
  serverAddress: '10.0.0.10',
  ranges: ['10.0.0.0/24', '10.1.0.0/16'],
  namespaces: ['shop', 'empty'],
  pods: [pod],
  services: [
    service('web', {
      clusterIP: '10.0.0.5',
      clusterIPs: ['10.0.0.5'],
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }, { port: 90 }],
    }),
    service('dual', { clusterIP: '10.0.0.6', clusterIPs: ['10.0.0.6', 'fd00:1::6'], ports: [{ port: 80 }] }),
    service('db', { clusterIP: 'None', clusterIPs: ['None'] }),
    service('none', { clusterIP: 'None', clusterIPs: ['None'] }),
    service('out', { type: 'ExternalName', externalName: 'Db.Example.org.' }),
    service('in', { type: 'ExternalName', externalName: 'web.shop.svc.cluster.local' }),
    service('loop-a', { type: 'ExternalName', externalName: 'loop-b.shop.svc.cluster.local' }),
    service('loop-b', { type: 'ExternalName', externalName: 'loop-a.shop.svc.cluster.local' }),
  ],
  slices: [
    slice('db', [
      { addresses: ['10.1.0.2'], hostname: 'db-0', conditions: { ready: true } },
      { addresses: ['10.1.0.3'], conditions: {} },
      { addresses: ['10.1.0.4'], hostname: 'db-2', conditions: { ready: false } },
    ]),
    slice('none', [{ addresses: ['10.1.0.9'], conditions: { ready: false } }]),
    // As the real API server has the slice of a Service without pods.
    { ...slice('none', []), ...(JSON.parse('{"endpoints":null,"ports":null}') as object) },
  ],
})

const ask = (name: string, type: string) => {
  const answer = computeClusterAnswer(zone, name, type)
  if (answer === undefined) return 'forward'
  if (!answer.exists) return 'NXDOMAIN'
  const records = answer.records.map(
    ({ type: each, data }) => `${each} ${typeof data === 'string' ? data : `${data.port} ${data.target}`}`,
  )
  return [...records, ...(answer.follow === undefined ? [] : [`then ${answer.follow}`])].join(', ') || 'NODATA'
}

describe('names of the cluster', () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ['web.shop.svc.cluster.local', 'A', 'A 10.0.0.5'],
    ['WEB.Shop.svc.Cluster.Local.', 'A', 'A 10.0.0.5'],
    ['web.shop.svc.cluster.local', 'AAAA', 'NODATA'],
    ['web.shop.svc.cluster.local', 'MX', 'NODATA'],
    ['dual.shop.svc.cluster.local', 'AAAA', 'AAAA fd00:1::6'],
    ['db.shop.svc.cluster.local', 'A', 'A 10.1.0.2, A 10.1.0.3'],
    ['db-0.db.shop.svc.cluster.local', 'A', 'A 10.1.0.2'],
    ['10-1-0-3.db.shop.svc.cluster.local', 'A', 'A 10.1.0.3'],
    ['db-2.db.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['none.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['_http._tcp.web.shop.svc.cluster.local', 'SRV', 'SRV 80 web.shop.svc.cluster.local'],
    ['_http._udp.web.shop.svc.cluster.local', 'SRV', 'NXDOMAIN'],
    ['_tcp.web.shop.svc.cluster.local', 'SRV', 'NXDOMAIN'],
    [
      '_db._tcp.db.shop.svc.cluster.local',
      'SRV',
      'SRV 5432 db-0.db.shop.svc.cluster.local, SRV 5432 10-1-0-3.db.shop.svc.cluster.local',
    ],
    ['_http._tcp.web.shop.svc.cluster.local', 'A', 'NODATA'],
    ['5.0.0.10.in-addr.arpa', 'PTR', 'PTR web.shop.svc.cluster.local'],
    ['2.0.1.10.in-addr.arpa', 'PTR', 'PTR db-0.db.shop.svc.cluster.local'],
    [
      '6.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.d.f.ip6.arpa',
      'PTR',
      'PTR dual.shop.svc.cluster.local',
    ],
    ['99.0.0.10.in-addr.arpa', 'PTR', 'NXDOMAIN'],
    ['1.2.0.192.in-addr.arpa', 'PTR', 'forward'],
    ['out.shop.svc.cluster.local', 'A', 'CNAME db.example.org, then db.example.org'],
    ['out.shop.svc.cluster.local', 'CNAME', 'CNAME db.example.org'],
    ['in.shop.svc.cluster.local', 'A', 'CNAME web.shop.svc.cluster.local, A 10.0.0.5'],
    ['10-1-0-7.shop.pod.cluster.local', 'A', 'A 10.1.0.7'],
    ['fd00--7.shop.pod.cluster.local', 'AAAA', 'AAAA fd00::7'],
    ['10-1-0-8.shop.pod.cluster.local', 'A', 'NXDOMAIN'],
    ['nonsense.shop.pod.cluster.local', 'A', 'NXDOMAIN'],
    ['shop.svc.cluster.local', 'A', 'NODATA'],
    ['empty.svc.cluster.local', 'A', 'NODATA'],
    ['web.other.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['other.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['gone.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['svc.cluster.local', 'A', 'NODATA'],
    ['cluster.local', 'A', 'NODATA'],
    ['cluster.local', 'NS', 'NS ns.dns.cluster.local'],
    ['ns.dns.cluster.local', 'A', 'A 10.0.0.10'],
    ['dns-version.cluster.local', 'TXT', 'TXT 1.1.0'],
    ['web.cluster.local', 'A', 'NXDOMAIN'],
    ['example.org', 'A', 'forward'],
    ['notcluster.local', 'A', 'forward'],
  ]
  for (const [name, type, expected] of rows) test(`${type} ${name}`, () => assert.equal(ask(name, type), expected))

  test('two names that stand for each other are answered with what there is', () => {
    assert.match(
      ask('loop-a.shop.svc.cluster.local', 'A'),
      /^(?:CNAME loop-[ab]\.shop\.svc\.cluster\.local(?:, )?){9}$/,
    )
  })

  test('the targets of ports come along', () => {
    const answer = computeClusterAnswer(zone, '_db._tcp.db.shop.svc.cluster.local', 'SRV')
    assert.deepEqual(
      answer?.additionals.map(({ data }) => data),
      ['10.1.0.2', '10.1.0.3'],
    )
  })
})
