import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NetworkPolicy, NetworkPolicySpec } from '../../../model/generated/api-groups.ts'
import type { Namespace, Pod } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeNftUpdate } from '../nft/compute-nft-update.ts'
import { computeBlockSpans, formatAddressSpan } from './compute-ranges.ts'
import { computePolicyState } from './compute-policy-state.ts'
import { computePolicyPods } from './policy-pod.ts'

const network = { bridge: 'br0', dnsAddresses: ['10.124.0.10'] }

function meta(namespace: string, name: string, labels: Record<string, string> = {}) {
  return { namespace, name, uid: `${namespace}/${name}`, resourceVersion: '1', labels }
}

function pod(place: string, address: string, labels: Record<string, string> = {}, fields: object = {}): Live<Pod> {
  const [namespace = '', name = ''] = place.split('/')
  return {
    metadata: meta(namespace, name, labels),
    spec: { containers: [{ name: 'c', image: 'i' }] },
    status: { phase: 'Running', podIP: address, podIPs: [{ ip: address }] },
    ...fields,
  }
}

const withPort = (containerPort: number, protocol = 'TCP') => ({
  spec: { containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort, protocol }] }] },
})

const namespaces: readonly Live<Namespace>[] = [
  { metadata: meta('', 'shop', { team: 'red' }), spec: {} },
  { metadata: meta('', 'other', { team: 'blue' }), spec: {} },
]
const pods = [
  pod('shop/web', '10.1.0.2', { app: 'web' }),
  pod('shop/db', '10.1.0.3', { app: 'db' }),
  pod('other/web', '10.1.0.4', { app: 'web' }),
]

function policy(spec: NetworkPolicySpec, name = 'p'): Live<NetworkPolicy> {
  return { metadata: meta('shop', name), spec: { policyTypes: ['Ingress'], ...spec } }
}

function stateOf(policies: readonly Live<NetworkPolicy>[], all: readonly Live<Pod>[] = pods) {
  return computePolicyState(policies, computePolicyPods(all, namespaces), network)
}

function elements(state: ReturnType<typeof stateOf>, name: string): readonly string[] {
  return [...(state.sets.get(name)?.elements ?? [])].map(([key, value]) => `${key}${value && ` ${value}`}`)
}

describe('which pods a policy is for', () => {
  const isolated = (spec: NetworkPolicySpec, map: 'in4' | 'eg4' = 'in4', all = pods) =>
    elements(stateOf([policy(spec)], all), map)
      .filter((line) => line.includes('pods-'))
      .map((line) => line.split(' ')[0])
  const rows: readonly [name: string, actual: readonly unknown[], expected: readonly string[]][] = [
    ['all of its namespace', isolated({ podSelector: {} }), ['10.1.0.2', '10.1.0.3']],
    ['those with labels', isolated({ podSelector: { matchLabels: { app: 'db' } } }), ['10.1.0.3']],
    ['no one else where it selects none', isolated({ podSelector: { matchLabels: { app: 'x' } } }), []],
    ['for what comes only', isolated({ podSelector: {} }, 'eg4'), []],
    ['for what leaves only', isolated({ podSelector: {}, policyTypes: ['Egress'] }), []],
    [
      'not those of the host, nor those that are over, but those that end',
      isolated({ podSelector: {} }, 'in4', [
        pod('shop/host', '10.1.0.5', {}, { spec: { hostNetwork: true, containers: [] } }),
        pod('shop/done', '10.1.0.6', {}, { status: { phase: 'Succeeded', podIP: '10.1.0.6' } }),
        pod('shop/new', '10.1.0.6', {}, { metadata: { ...meta('shop', 'new'), deletionTimestamp: 'now' } }),
        pod('shop/waiting', '', {}, { status: { phase: 'Pending' } }),
      ]),
      ['10.1.0.6'],
    ],
  ]
  for (const [name, actual, expected] of rows) test(name, () => assert.deepEqual(actual, expected))

  test('one whose address the API does not know yet has it already; what the API knows counts first', () => {
    const starting = pod('shop/new', '', { app: 'web' }, { status: { phase: 'Pending' } })
    const mirror = { ...pod('other/static', '', {}, { status: {} }), metadata: meta('other', 'static') }
    const fixed = { ...mirror, metadata: { ...mirror.metadata, annotations: { 'kubernetes.io/config.hash': 'h' } } }
    const attached = new Map([
      ['shop/new', ['10.1.0.9', '10.1.0.3']],
      ['h', ['10.1.0.8']],
    ])
    const found = computePolicyPods([...pods, starting, fixed], namespaces, attached)
    assert.deepEqual(
      found.slice(pods.length).map(({ namespace, addresses }) => [namespace, addresses.map(({ text }) => text)]),
      [
        ['shop', ['10.1.0.9']],
        ['other', ['10.1.0.8']],
      ],
    )
  })

  test('of two pods with one address the later one has it', () => {
    const created = (name: string, time: string, labels = {}) =>
      pod(`shop/${name}`, '10.1.0.9', labels, {
        metadata: { ...meta('shop', name, labels), creationTimestamp: `2026-01-01T00:00:0${time}Z` },
      })
    const all = [created('new', '2', { app: 'x' }), created('old', '1')]
    assert.deepEqual(isolated({ podSelector: { matchLabels: { app: 'x' } } }, 'in4', all), ['10.1.0.9'])
    assert.deepEqual(isolated({ podSelector: { matchLabels: { app: 'x' } } }, 'in4', all.toReversed()), ['10.1.0.9'])
  })
})

describe('whom a rule lets in', () => {
  const rule = (from: NonNullable<NetworkPolicySpec['ingress']>[number]) => {
    const state = stateOf([policy({ podSelector: {}, ingress: [from] })])
    return { lines: state.chains.get('in_shop/p')?.rules, peers: elements(state, 'in_shop/p/0-pods4') }
  }
  const web = { matchLabels: { app: 'web' } }
  const blue = { matchLabels: { team: 'blue' } }
  const peers = (...from: NonNullable<NetworkPolicySpec['ingress']>[number]['from'] & object) => rule({ from }).peers
  test('all, without any peer', () => assert.deepEqual(rule({}).lines, ['accept']))
  test('pods of its namespace', () => assert.deepEqual(peers({ podSelector: web }), ['10.1.0.2']))
  test('pods of other namespaces', () => assert.deepEqual(peers({ namespaceSelector: blue }), ['10.1.0.4']))
  test('all namespaces by an empty selector', () => assert.equal(peers({ namespaceSelector: {} }).length, 3))
  test('both selectors of one entry hold together', () => {
    assert.deepEqual(peers({ podSelector: { matchLabels: { app: 'db' } }, namespaceSelector: blue }), [])
    assert.deepEqual(peers({ podSelector: web, namespaceSelector: blue }), ['10.1.0.4'])
  })
  test('entries add up', () =>
    assert.deepEqual(peers({ podSelector: web }, { namespaceSelector: blue }), ['10.1.0.2', '10.1.0.4']))
  test('blocks without their exceptions, which no pod changes', () =>
    assert.deepEqual(
      rule({ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }], ports: [{ port: 80 }] }).lines,
      ['ip saddr { 10.0.0.0-10.0.255.255, 10.2.0.0-10.255.255.255 } tcp dport { 80 } accept'],
    ))
  test('ports by number, range and protocol', () => {
    const ports = [
      { port: 80 },
      { port: 81, endPort: 90 },
      { port: 85 },
      { protocol: 'UDP', port: 53 },
      { protocol: 'SCTP' },
      { protocol: 'SCTP', port: 1 },
    ]
    assert.deepEqual(rule({ ports }).lines, [
      'tcp dport { 80-90 } accept',
      'udp dport { 53 } accept',
      'meta l4proto sctp accept',
    ])
  })
})

describe('ports by name', () => {
  const named = [
    pod('shop/a', '10.1.0.2', { app: 'web' }, withPort(8080)),
    pod('shop/b', '10.1.0.3', { app: 'db' }, withPort(9090)),
    pod('other/c', '10.1.0.4', {}, withPort(7070)),
    pod('other/d', '10.1.0.5', {}, withPort(6060, 'UDP')),
  ]
  test('of what comes are those of the pods that the policy is for', () => {
    const ingress = [{ from: [{ namespaceSelector: {} }], ports: [{ port: 'http' }] }]
    const state = stateOf([policy({ podSelector: { matchLabels: { app: 'web' } }, ingress })], named)
    assert.deepEqual(elements(state, 'in_shop/p/0-ports4'), ['10.1.0.2 . tcp . 8080'])
    assert.equal(
      state.chains.get('in_shop/p')?.rules[0],
      'ip saddr @in_shop/p/0-pods4 ip daddr . meta l4proto . th dport @in_shop/p/0-ports4 accept',
    )
  })
  const egress = (to: NonNullable<NetworkPolicySpec['egress']>[number]['to']) =>
    elements(
      stateOf(
        [policy({ podSelector: {}, policyTypes: ['Egress'], egress: [{ to, ports: [{ port: 'http' }] }] })],
        named,
      ),
      'eg_shop/p/0-ports4',
    )
  test('of what leaves are those of the receivers', () => {
    assert.deepEqual(egress([{ namespaceSelector: { matchLabels: { team: 'blue' } } }]), ['10.1.0.4 . tcp . 7070'])
    assert.deepEqual(egress([{ ipBlock: { cidr: '10.1.0.2/31' } }]), ['10.1.0.2 . tcp . 8080', '10.1.0.3 . tcp . 9090'])
    assert.equal(egress(undefined).length, 3)
  })
})

describe('the table', () => {
  test('of several policies each adds what it allows; pods with the same ones share a chain', () => {
    const state = stateOf([
      policy({ podSelector: {} }, 'a'),
      policy({ podSelector: { matchLabels: { app: 'db' } } }, 'b'),
    ])
    const [web = '', db = '', other] = elements(state, 'in4')
    assert.equal(web, '10.1.0.2 goto pods-in_shop/a')
    assert.deepEqual(state.chains.get(db.split(' goto ')[1] ?? '')?.rules, [
      'jump in_shop/a',
      'jump in_shop/b',
      'goto deny',
    ])
    assert.equal(other, '10.1.0.4 accept')
  })
  test('what leaves has still to be let in', () =>
    assert.deepEqual(
      stateOf([policy({ podSelector: {}, policyTypes: ['Egress'], egress: [{}] })]).chains.get('eg_shop/p')?.rules,
      ['goto ingress'],
    ))
  test('a pod that comes changes elements, no chain', () => {
    const ingress = [{ from: [{ podSelector: {} }] }]
    const before = stateOf([policy({ podSelector: {}, ingress })], pods.slice(1))
    const { text } = computeNftUpdate('t', before, stateOf([policy({ podSelector: {}, ingress })]))
    assert.deepEqual(text.trimEnd().split('\n').sort(), [
      'add element inet t eg4 { 10.1.0.2 : goto ingress }',
      'add element inet t in4 { 10.1.0.2 : goto pods-in_shop/p }',
      'add element inet t in_shop/p/0-pods4 { 10.1.0.2 }',
      'add element inet t self4 { 10.1.0.2 . 10.1.0.2 }',
    ])
  })
  test('long names are cut to what nftables takes, and stay different', () => {
    const long = (end: string) =>
      policy({ podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] }, `${'x'.repeat(252)}${end}`)
    const state = stateOf([long('1'), long('2')])
    const names = [...state.chains.keys(), ...state.sets.keys()]
    assert.ok(names.every((name) => name.length < 255))
    assert.equal([...state.chains.keys()].filter((name) => name.startsWith('in_')).length, 2)
  })
})

describe('blocks', () => {
  const spans = (cidr: string, except: readonly string[] = [], family: 'IPv4' | 'IPv6' = 'IPv4') =>
    computeBlockSpans([{ cidr, except }], family).map((span) => formatAddressSpan(span, family))
  test('everything', () => assert.deepEqual(spans('0.0.0.0/0'), ['0.0.0.0-255.255.255.255']))
  test('without the first and the last', () =>
    assert.deepEqual(spans('10.0.0.0/30', ['10.0.0.0/32', '10.0.0.3/32']), ['10.0.0.1-10.0.0.2']))
  test('without all of it', () => assert.deepEqual(spans('10.0.0.0/31', ['10.0.0.0/32', '10.0.0.1/32']), []))
  test('exceptions that overlap', () =>
    assert.deepEqual(spans('10.0.0.0/24', ['10.0.0.0/25', '10.0.0.64/26']), ['10.0.0.128-10.0.0.255']))
  test('of the other family', () => assert.deepEqual(spans('2001:db8::/32'), []))
  test('of IPv6', () =>
    assert.deepEqual(spans('2001:db8::/126', ['2001:db8::/128'], 'IPv6'), ['2001:db8::1-2001:db8::3']))
  test('blocks that touch each other become one', () =>
    assert.deepEqual(
      computeBlockSpans([{ cidr: '10.0.0.0/25' }, { cidr: '10.0.0.128/25' }, { cidr: '10.0.0.7/32' }], 'IPv4').length,
      1,
    ))
})
