import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EndpointTarget } from '../endpoints/compute-targets.ts'
import { computeIptablesState } from './compute-iptables-state.ts'
import type { ProxiedPort } from './proxied-port.ts'

const NETWORK = { serviceRanges: ['10.0.0.0/24', 'fd00:1::/112'], podRanges: ['10.1.0.0/16'], seesBridge: true }
const pod = (address: string, isLocal = true): EndpointTarget => ({ address, port: 8080, isLocal })

function port(fields: Partial<ProxiedPort> = {}): ProxiedPort {
  return {
    id: 'shop/web/80/tcp/4',
    family: 'IPv4',
    protocol: 'tcp',
    port: 80,
    clusterIP: '10.0.0.5',
    nodePort: undefined,
    balancerIPs: [],
    externalIPs: [],
    sourceRanges: [],
    affinitySeconds: undefined,
    isInternalLocal: false,
    isExternalLocal: false,
    targets: [pod('10.1.0.2')],
    localTargets: [pod('10.1.0.2')],
    isAtHome: false,
    ...fields,
  }
}

/** All rules, with the hashes in the names of chains left out; those that each state has are left out too. */
function rules(...args: Parameters<typeof port>): readonly string[] {
  const { chains } = computeIptablesState([port(...args)], NETWORK, { family: 'IPv4', prefix: 'DH' })
  return Object.values(chains)
    .flatMap((table) => [...table].flatMap(([name, lines]) => lines.map((line) => `${name} ${line}`)))
    .map((line) => line.replaceAll(/DH-([A-Z])-[0-9a-z]{14}/g, '$1').replaceAll(' -m conntrack --ctstate', ''))
    .filter((line) => !line.includes('-d 10.0.0.0/24'))
}

const CHOSEN = 'DH-SVC -p tcp -d 10.0.0.5 --dport 80 -m comment --comment "shop/web/80/tcp/4" -j S'
const HAIRPIN = 'DH-POST DNAT -s 10.1.0.2 -d 10.1.0.2 -j MASQUERADE'
const TO_POD = '-p tcp -j DNAT --to-destination 10.1.0.2:8080'

describe('rules of services for iptables', () => {
  test('one target', () => assert.deepEqual(rules(), [CHOSEN, HAIRPIN, `S ${TO_POD}`]))

  test('several targets, each as likely', () =>
    assert.deepEqual(
      rules({ targets: ['2', '3', '4'].map((last) => pod(`10.1.0.${last}`)) }).filter((line) => line.startsWith('S ')),
      [
        `S -m statistic --mode random --probability 0.3333333333 ${TO_POD}`,
        'S -m statistic --mode random --probability 0.5000000000 -p tcp -j DNAT --to-destination 10.1.0.3:8080',
        'S -p tcp -j DNAT --to-destination 10.1.0.4:8080',
      ],
    ))

  test('no target is a refusal, by the address and by the port of the node', () => {
    const nodePort = '-p tcp -m addrtype --dst-type LOCAL ! -d 127.0.0.0/8 --dport 30080 -j REJECT'
    assert.deepEqual(rules({ targets: [], localTargets: [], nodePort: 30_080 }), [
      'DH-IN NEW -p tcp -d 10.0.0.5 --dport 80 -j REJECT',
      `DH-IN NEW ${nodePort}`,
      'DH-FWD NEW -p tcp -d 10.0.0.5 --dport 80 -j REJECT',
      'DH-OUT NEW -p tcp -d 10.0.0.5 --dport 80 -j REJECT',
      `DH-OUT NEW ${nodePort}`,
    ])
  })

  test('targets elsewhere under a local policy: silence; pods and the node get there all the same', () => {
    const away = { targets: [pod('192.0.2.9', false)], localTargets: [], isInternalLocal: true }
    const found = rules({ ...away, isExternalLocal: true, nodePort: 30_080 })
    assert.deepEqual(
      found.filter((line) => line.startsWith('X ')),
      ['X -s 10.1.0.0/16 -j S', 'X -m addrtype --src-type LOCAL -j S'],
    )
    assert.ok(found.includes('DH-FWD NEW -p tcp -d 10.0.0.5 --dport 80 -j DROP'))
    assert.ok(found.includes('DH-POST DNAT -p tcp -d 192.0.2.9 --dport 8080 -j MASQUERADE'))
  })

  test('balancers: their address, and who may come', () => {
    const found = rules({ balancerIPs: ['192.0.2.1'], sourceRanges: ['192.0.2.128/25'] })
    assert.deepEqual(found.slice(0, 3), [
      'DH-SRC NEW -p tcp -d 192.0.2.1 --dport 80 -j F',
      'F -s 192.0.2.128/25 -j RETURN',
      'F -j DROP',
    ])
  })

  test('sessions', () => {
    assert.deepEqual(
      rules({ affinitySeconds: 10 }).filter((line) => /^[ES] /.test(line)),
      ['E -m recent --name E --set', `E ${TO_POD}`, 'S -m recent --name E --rcheck --seconds 10 --reap -j E', 'S -j E'],
    )
  })

  test('what the rules do not know stays on the machine, in each family', () => {
    for (const [family, range] of [
      ['IPv4', '10.0.0.0/24'],
      ['IPv6', 'fd00:1::/112'],
    ] as const) {
      const { chains } = computeIptablesState([], NETWORK, { family, prefix: 'DH' })
      const last = `-m conntrack --ctstate NEW -d ${range} -m addrtype ! --dst-type LOCAL -j REJECT`
      assert.deepEqual(
        ['DH-IN', 'DH-FWD', 'DH-OUT'].map((name) => chains.filter.get(name)),
        [[], [last], [last]],
      )
    }
  })

  test('names of chains are short enough, and none is another service', () => {
    const long = (name: string) => port({ id: `${name.repeat(60)}/80/tcp/4` })
    const ports = ['a', 'b', 'c'].map(long)
    const { chains } = computeIptablesState(ports, NETWORK, { family: 'IPv4', prefix: 'DH-1a2b3c' })
    const names = [...chains.nat.keys()]
    assert.equal(names.length, 2 + ports.length)
    assert.ok(names.every((name) => name.length <= 28))
  })
})
