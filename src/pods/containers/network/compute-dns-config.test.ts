import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DNSConfig } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { PodSpec } from '../../../model/generated/core-v1.ts'
import { createPod } from '../../../../test/builders/create-pod.ts'
import { computeDnsConfig, computeNodeDnsWarnings } from './compute-dns-config.ts'
import type { ReadDnsSettings } from './compute-dns-config.ts'

const host = { servers: ['192.0.2.1'], searches: ['lan.test', 'cluster.test'], options: ['rotate'] }
const settings: ReadDnsSettings = {
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.test',
  resolvConf: '/etc/resolv.conf',
  host,
  primaryFamily: 'IPv4',
}
const cluster: DNSConfig = {
  servers: ['10.96.0.10'],
  searches: ['shop.svc.cluster.test', 'svc.cluster.test', 'cluster.test', 'lan.test'],
  options: ['ndots:5'],
}
const none: DNSConfig = { servers: [], searches: [], options: [] }

interface Row {
  readonly name: string
  readonly spec: Partial<PodSpec>
  readonly settings?: Partial<ReadDnsSettings>
  readonly config: DNSConfig
  readonly reasons?: readonly string[]
}

const rows: readonly Row[] = [
  { name: 'None', spec: { dnsPolicy: 'None' }, config: none },
  { name: 'Default', spec: { dnsPolicy: 'Default' }, config: host },
  { name: 'ClusterFirst', spec: { dnsPolicy: 'ClusterFirst' }, config: cluster },
  { name: 'no policy is ClusterFirst', spec: {}, config: cluster },
  {
    name: 'ClusterFirst in the network of the node',
    spec: { dnsPolicy: 'ClusterFirst', hostNetwork: true },
    config: host,
  },
  {
    name: 'ClusterFirstWithHostNet',
    spec: { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true },
    config: cluster,
  },
  {
    name: 'ClusterFirst without a cluster domain',
    spec: {},
    settings: { clusterDomain: '' },
    config: { ...cluster, searches: host.searches },
  },
  {
    name: 'ClusterFirst without a resolver file',
    spec: {},
    settings: { host: undefined },
    config: { ...cluster, searches: ['shop.svc.cluster.test', 'svc.cluster.test', 'cluster.test'] },
  },
  {
    name: 'ClusterFirst without cluster DNS is Default',
    spec: {},
    settings: { clusterDns: [] },
    config: host,
    reasons: ['MissingClusterDNS'],
  },
  {
    name: 'Default without a resolver file, IPv4',
    spec: { dnsPolicy: 'Default' },
    settings: { host: undefined },
    config: { servers: ['127.0.0.1'], searches: ['.'], options: [] },
  },
  {
    name: 'Default without a resolver file, IPv6',
    spec: { dnsPolicy: 'Default' },
    settings: { host: undefined, primaryFamily: 'IPv6' },
    config: { servers: ['::1'], searches: ['.'], options: [] },
  },
  {
    name: "the pod's own entries come after, each once; its options win",
    spec: {
      dnsConfig: {
        nameservers: ['1.1.1.1', '10.96.0.10'],
        searches: ['lan.test', 'own.test'],
        options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
      },
    },
    config: {
      servers: ['10.96.0.10', '1.1.1.1'],
      searches: [...cluster.searches, 'own.test'],
      options: ['ndots:2', 'edns0'],
    },
  },
  {
    name: "None with the pod's own entries",
    spec: { dnsPolicy: 'None', dnsConfig: { nameservers: ['1.1.1.1'] } },
    config: { servers: ['1.1.1.1'], searches: [], options: [] },
  },
  {
    name: 'a fourth nameserver is cut',
    spec: { dnsConfig: { nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3'] } },
    config: { ...cluster, servers: ['10.96.0.10', '1.1.1.1', '2.2.2.2'] },
    reasons: ['DNSConfigForming'],
  },
  {
    name: 'both kinds of cuts are reported',
    spec: {
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['1', '2', '3', '4'], searches: ['a'.repeat(254), 'b'.repeat(253)] },
    },
    config: { servers: ['1', '2', '3'], searches: ['b'.repeat(253)], options: [] },
    reasons: ['DNSConfigForming', 'DNSConfigForming'],
  },
  {
    name: 'a 33rd search domain is cut',
    spec: { dnsPolicy: 'None', dnsConfig: { searches: Array.from({ length: 33 }, (_, index) => `d${index}`) } },
    config: { ...none, searches: Array.from({ length: 32 }, (_, index) => `d${index}`) },
    reasons: ['DNSConfigForming'],
  },
  {
    name: 'a search line of 2048 characters is whole',
    spec: { dnsPolicy: 'None', dnsConfig: { searches: searchLine(2048) } },
    config: { ...none, searches: searchLine(2048) },
  },
  {
    name: 'a search line of 2049 characters loses its end',
    spec: { dnsPolicy: 'None', dnsConfig: { searches: searchLine(2049) } },
    config: { ...none, searches: searchLine(2049).slice(0, -1) },
    reasons: ['DNSConfigForming'],
  },
]

/** Different domains whose joined line is this long. */
function searchLine(length: number): string[] {
  const domains = Array.from({ length: 8 }, (_, index) => `${index}${'x'.repeat(239)}`)
  return [...domains, 'y'.repeat(length - domains.join(' ').length - 1)]
}

describe('computeDnsConfig()', () => {
  for (const { name, spec, settings: changed, config, reasons = [] } of rows) {
    test(name, () => {
      const result = computeDnsConfig(createPod({ spec }), { ...settings, ...changed })
      assert.deepEqual(result.config, config)
      assert.deepEqual(
        result.warnings.map(({ reason }) => reason),
        reasons,
      )
    })
  }

  test('a warning names what is used', () => {
    const dnsConfig = { nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3'] }
    assert.deepEqual(computeDnsConfig(createPod({ spec: { dnsConfig } }), settings).warnings, [
      {
        reason: 'DNSConfigForming',
        message:
          'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.96.0.10 1.1.1.1 2.2.2.2',
      },
    ])
  })
})

describe('computeNodeDnsWarnings()', () => {
  const excess = (searches: readonly string[], clusterDomain: string) =>
    computeNodeDnsWarnings({ ...settings, clusterDomain, host: { servers: [], searches, options: [] } })

  test('leaves room for the domains of the cluster', () => {
    const reason = 'CheckLimitsForResolvConf'
    const thirty = Array.from({ length: 30 }, (_, index) => `d${index}`)
    assert.deepEqual(excess(thirty, ''), [])
    assert.deepEqual(excess(thirty, 'cluster.test'), [
      {
        reason,
        message: "Resolv.conf file '/etc/resolv.conf' contains search line consisting of more than 29 domains!",
      },
    ])
    assert.deepEqual(excess(searchLine(2048), ''), [])
    assert.deepEqual(excess(searchLine(2049), ''), [
      {
        reason,
        message:
          "Resolv.conf file '/etc/resolv.conf' contains search line which length is more than allowed 2048 chars!",
      },
    ])
  })

  test('says once that there is no cluster DNS, for all pods of a node without a domain', () => {
    const lone = { ...settings, clusterDns: [], clusterDomain: '' }
    assert.deepEqual(
      computeNodeDnsWarnings(lone).map(({ reason }) => reason),
      ['MissingClusterDNS'],
    )
    assert.deepEqual(computeDnsConfig(createPod(), lone), { config: host, warnings: [] })
    assert.deepEqual(computeNodeDnsWarnings(settings), [])
  })
})
