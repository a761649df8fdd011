import { each, get, patch, post, remove } from '../contract-case.ts'
import type { ContractTable } from '../contract-case.ts'
import { of } from './objects.ts'
import { row } from './tables-of-kinds.ts'

type Fields = Readonly<Record<string, unknown>>

const POLICIES = '/apis/networking.k8s.io/v1/namespaces/$(ns)/networkpolicies'
const OWN = `${POLICIES}/a`
const policy = (spec: Fields) => of('networking.k8s.io/v1', 'NetworkPolicy', 'a', { spec })
const from = (...peers: readonly Fields[]) => policy({ podSelector: {}, ingress: [{ from: peers }] })
const block = (cidr: string, except?: readonly string[]) =>
  from({ ipBlock: { cidr, ...(except !== undefined && { except }) } })
const ports = (...list: readonly Fields[]) => policy({ podSelector: {}, ingress: [{ ports: list }] })

const rows: readonly (readonly [name: string, body: object])[] = [
  ['denies all that comes', policy({ podSelector: {} })],
  ['without a selector', policy({})],
  ['without a spec', of('networking.k8s.io/v1', 'NetworkPolicy', 'a')],
  ['with rules for what leaves', policy({ podSelector: {}, egress: [{}] })],
  ['with no rule for what leaves', policy({ podSelector: {}, egress: [] })],
  ['with types', policy({ podSelector: {}, policyTypes: ['Egress'], ingress: [{}] })],
  ['with a type that is none', policy({ podSelector: {}, policyTypes: ['Other'] })],
  ['with three types', policy({ podSelector: {}, policyTypes: ['Ingress', 'Egress', 'Ingress'] })],
  ['with one type twice', policy({ podSelector: {}, policyTypes: ['Ingress', 'Ingress'] })],
  [
    'with a bad selector',
    policy({ podSelector: { matchExpressions: [{ key: 'a', operator: 'In' }], matchLabels: { 'a b': '' } } }),
  ],
  [
    'with peers',
    from(
      { podSelector: {} },
      { namespaceSelector: {} },
      { podSelector: {}, namespaceSelector: { matchLabels: { a: 'b' } } },
    ),
  ],
  ['with a peer of nothing', from({})],
  ['with a block and a selector', from({ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} })],
  ['with a bad selector of a peer', from({ namespaceSelector: { matchLabels: { a: '-' } } })],
  ['with a block', block('10.0.0.0/8', ['10.1.0.0/16', '10.2.3.4/32'])],
  ['with a block without a range', from({ ipBlock: {} })],
  ['with a range that is none', block('10.0.0.0')],
  ['with a range with bits behind', block('10.0.0.1/8')],
  ['with a range with zeros before', block('010.0.0.0/8')],
  ['with a range of both families', block('::ffff:10.0.0.0/104')],
  ['with a range of IPv6 in long', block('2001:DB8:0::/48')],
  ['with an exception that is none', block('10.0.0.0/8', ['x'])],
  ['with an exception that is elsewhere', block('10.0.0.0/8', ['192.168.0.0/24'])],
  ['with an exception as large', block('10.0.0.0/8', ['10.0.0.0/8'])],
  ['with an exception of the other family', block('10.0.0.0/8', ['2001:db8::/64'])],
  ['with ports', ports({ port: 80 }, { port: 'http' }, { protocol: 'UDP', port: 1, endPort: 5 }, { protocol: 'SCTP' })],
  ['with a port of 0', ports({ port: 0 })],
  ['with a port too large', ports({ port: 65_536 })],
  ['with a name of a port that is none', ports({ port: 'a_b' })],
  ['with a protocol that is none', ports({ protocol: 'ICMP' })],
  ['with an end before the beginning', ports({ port: 10, endPort: 9 })],
  ['with an end alone', ports({ endPort: 9 })],
  ['with an end behind a name', ports({ port: 'http', endPort: 90 })],
  ['with an end too large', ports({ port: 10, endPort: 70_000 })],
  ['with an unknown field', policy({ podSelector: {}, other: 1 })],
]

/** Policies of the network: what they get besides, or which rules they break; how they change and are shown. */
export const networkPolicies: ContractTable = {
  name: 'network-policies',
  cases: [
    ...rows.map(([name, body]) =>
      each(`policy ${name}`, post(POLICIES, body), remove(OWN, undefined, { shows: 'code' })),
    ),
    each(
      'a policy changes',
      post(POLICIES, policy({ podSelector: {} })),
      patch('merge', OWN, { spec: { egress: [{ ports: [{ port: 53 }] }] } }),
      patch('merge', OWN, { spec: { policyTypes: null } }),
      patch('merge', OWN, { metadata: { labels: { a: 'b' } } }),
      patch('merge', OWN, { spec: { policyTypes: ['Other'] } }),
      remove(OWN),
    ),
    each(
      'a policy has no status',
      post(POLICIES, { ...policy({ podSelector: {} }), status: {} }),
      get(`${OWN}/status`, { shows: 'code' }),
      remove(OWN, undefined, { shows: 'code' }),
    ),
    row('policy for all pods', POLICIES, policy({ podSelector: {} })),
    row('policy for some pods', POLICIES, policy({ podSelector: { matchLabels: { a: 'b', c: 'd' } } })),
  ],
}
