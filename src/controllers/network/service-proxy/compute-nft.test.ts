import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EndpointSlice } from '../../../model/generated/api-groups.ts'
import type { Service, ServiceSpec } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeNftState } from './compute-nft-state.ts'
import { computeNftAdoption, computeNftReplacement, computeNftUpdate } from '../nft/compute-nft-update.ts'
import { computeProxiedPorts } from './compute-proxied-ports.ts'
import { computeStaleFlows } from './compute-stale-flows.ts'
import type { ProxiedPort } from './proxied-port.ts'

const network = { serviceRanges: ['10.0.0.0/24'], podRanges: ['10.1.0.0/16'], seesBridge: true }
const ready = { ready: true, serving: true, terminating: false }
const draining = { ready: false, serving: true, terminating: true }
const unready = { ready: false, serving: false, terminating: false }

type Condition = typeof ready

function input(
  spec: ServiceSpec,
  endpoints: Readonly<Record<string, Condition>>,
  fields: { nodeName?: string; status?: object; labels?: Record<string, string> } = {},
) {
  const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1', labels: fields.labels ?? {} }
  const service: Live<Service> = {
    metadata,
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.0.0.5',
      clusterIPs: ['10.0.0.5'],
      ipFamilies: ['IPv4'],
      ports: [{ port: 80, protocol: 'TCP' }],
      ...spec,
    },
    status: fields.status ?? {},
  }
  const slice: Live<EndpointSlice> = {
    metadata: { ...metadata, name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080, protocol: spec.ports?.[0]?.protocol ?? 'TCP' }],
    endpoints: Object.entries(endpoints).map(([address, conditions]) => ({
      addresses: [address],
      nodeName: fields.nodeName ?? 'n1',
      conditions,
    })),
  }
  return computeProxiedPorts({ services: [service], slices: [slice], nodeName: 'n1' })
}

const stateOf = (...args: Parameters<typeof input>) => computeNftState(input(...args), network)
const elements = (state: ReturnType<typeof stateOf>, ...names: readonly string[]) =>
  names.flatMap((name) =>
    [...(state.sets.get(name)?.elements ?? [])].map(([key, value]) => `${name} ${key}${value && ` ${value}`}`),
  )

describe('where connections of a service go', () => {
  const targets = (endpoints: Readonly<Record<string, Condition>>) =>
    input({}, endpoints)[0]?.targets.map(({ address }) => address)
  test('to those that are ready', () =>
    assert.deepEqual(targets({ '10.1.0.2': ready, '10.1.0.3': unready, '10.1.0.4': draining }), ['10.1.0.2']))
  test('while none is, to those that end and still answer', () =>
    assert.deepEqual(targets({ '10.1.0.3': unready, '10.1.0.4': draining }), ['10.1.0.4']))
  test('headless services and those of another proxy are left alone', () => {
    assert.deepEqual(input({ clusterIP: 'None' }, {}), [])
    assert.deepEqual(input({}, {}, { labels: { 'service.kubernetes.io/service-proxy-name': 'x' } }), [])
  })
})

describe('the rules of a service', () => {
  const chain = 'shop/web/80/tcp/4'

  test('one target', () => {
    const state = stateOf({}, { '10.1.0.2': ready })
    assert.deepEqual(elements(state, 'svc4', 'noep4', 'hairpin4', 'vip4'), [
      `svc4 10.0.0.5 . tcp . 80 goto s_${chain}`,
      'hairpin4 10.1.0.2 . 10.1.0.2',
      'vip4 10.0.0.5',
    ])
    assert.deepEqual(state.chains.get(`s_${chain}`)?.rules, ['meta l4proto tcp dnat ip to 10.1.0.2:8080'])
  })

  test('of each protocol', () => {
    for (const protocol of ['UDP', 'SCTP']) {
      const name = protocol.toLowerCase()
      const state = stateOf({ ports: [{ port: 80, protocol }] }, { '10.1.0.2': ready })
      assert.deepEqual(elements(state, 'svc4'), [`svc4 10.0.0.5 . ${name} . 80 goto s_shop/web/80/${name}/4`])
      assert.deepEqual(state.chains.get(`s_shop/web/80/${name}/4`)?.rules, [
        `meta l4proto ${name} dnat ip to 10.1.0.2:8080`,
      ])
    }
  })

  test('several targets, each as likely', () => {
    assert.deepEqual(stateOf({}, { '10.1.0.2': ready, '10.1.0.3': ready }).chains.get(`s_${chain}`)?.rules, [
      'meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.1.0.2 . 8080, 1 : 10.1.0.3 . 8080 }',
    ])
  })

  test('no target is a refusal, by the address and by the port of the node', () => {
    const state = stateOf({ type: 'NodePort', ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }] }, {})
    assert.deepEqual(elements(state, 'svc4', 'np4', 'noep4', 'noepnp4'), [
      'noep4 10.0.0.5 . tcp . 80 goto refuse',
      'noepnp4 tcp . 30080 goto refuse',
    ])
  })

  test('targets elsewhere under a local policy: silence, not a refusal; pods and the node get there all the same', () => {
    const spec = {
      type: 'NodePort',
      externalTrafficPolicy: 'Local',
      ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }],
    }
    const state = stateOf(spec, { '192.0.2.9': ready }, { nodeName: 'n2' })
    assert.deepEqual(elements(state, 'svc4', 'np4', 'noepnp4', 'remote4'), [
      `svc4 10.0.0.5 . tcp . 80 goto s_${chain}`,
      `np4 tcp . 30080 goto x_${chain}`,
      'noepnp4 tcp . 30080 goto ignore',
      'remote4 192.0.2.9 . tcp . 8080',
    ])
    assert.deepEqual(state.chains.get(`x_${chain}`)?.rules, [
      `ip saddr @pods4 goto s_${chain}`,
      `fib saddr type local goto s_${chain}`,
    ])
  })

  test('balancers: their address, and who may come', () => {
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2', ipMode: 'Proxy' }] } }
    const state = stateOf(
      { type: 'LoadBalancer', loadBalancerSourceRanges: [' 10.0.0.0/8 '] },
      { '10.1.0.2': ready },
      { status },
    )
    assert.deepEqual(elements(state, 'fw4'), [`fw4 192.0.2.1 . tcp . 80 goto fw_${chain}`])
    assert.deepEqual(state.chains.get(`fw_${chain}`)?.rules, ['ip saddr { 10.0.0.0/8 } return', 'goto ignore'])
    const open = stateOf(
      { type: 'LoadBalancer', loadBalancerSourceRanges: ['0.0.0.0/0'] },
      { '10.1.0.2': ready },
      { status },
    )
    assert.deepEqual(elements(open, 'fw4'), [])
  })

  test('one that listens at its own address needs none', () => {
    const state = stateOf({ ports: [{ port: 8080, protocol: 'TCP' }] }, { '10.0.0.5': ready })
    assert.deepEqual(elements(state, 'svc4', 'noep4'), [])
  })
})

describe('changes of the table', () => {
  const before = stateOf({}, { '10.1.0.2': ready })

  test('what is the same is not written', () =>
    assert.equal(computeNftUpdate('t', before, stateOf({}, { '10.1.0.2': ready })).text, ''))

  test('another target is two lines and its pair', () => {
    const { text, unused } = computeNftUpdate('t', before, stateOf({}, { '10.1.0.3': ready }))
    assert.deepEqual(text.trim().split('\n'), [
      'flush chain inet t s_shop/web/80/tcp/4',
      'add rule inet t s_shop/web/80/tcp/4 meta l4proto tcp dnat ip to 10.1.0.3:8080',
      'delete element inet t hairpin4 { 10.1.0.2 . 10.1.0.2 }',
      'add element inet t hairpin4 { 10.1.0.3 . 10.1.0.3 }',
    ])
    assert.deepEqual(unused, [])
  })

  test('another target of a thousand services is as little', () => {
    const slices = (last: string): readonly ProxiedPort[] =>
      Array.from({ length: 1000 }, (_, index): ProxiedPort => {
        const [port] = input({}, Object.fromEntries(Array.from({ length: 9 }, (__, n) => [`10.1.1.${n + 1}`, ready])))
        assert.ok(port !== undefined)
        const address = index === 500 ? last : '10.1.1.10'
        const targets = [...port.targets, { address, port: 8080, isLocal: true }]
        return { ...port, id: `shop/web-${index}/80/tcp/4`, clusterIP: `10.0.${index >> 8}.${index & 255}`, targets }
      })
    const [before, after] = [slices('10.1.1.10'), slices('10.1.9.9')].map((ports) => computeNftState(ports, network))
    assert.ok(before !== undefined && after !== undefined)
    const { text } = computeNftUpdate('deckhand', before, after)
    assert.ok(text.trimEnd().split('\n').length <= 4, text)
  })

  test('a chain that is not needed is emptied, and goes later', () => {
    const { text, unused } = computeNftUpdate('t', before, stateOf({}, {}))
    assert.match(text, /delete element inet t svc4 .*\n(?:.*\n)*flush chain inet t s_shop/)
    assert.doesNotMatch(text, /delete chain/)
    assert.deepEqual(unused, ['s_shop/web/80/tcp/4'])
  })

  test('a table of an earlier process keeps what the kernel filled; one that is not known is replaced', () => {
    const sticky = stateOf({ sessionAffinity: 'ClientIP' }, { '10.1.0.2': ready })
    const known = { sets: [...sticky.sets.keys()], chains: [...sticky.chains.keys(), 'old'] }
    const { text, unused } = computeNftAdoption('t', known, sticky)
    assert.match(text, /flush map inet t svc4\n/)
    assert.doesNotMatch(text, /(?:flush|delete) set inet t aff_/)
    assert.deepEqual(unused, ['old'])
    assert.match(computeNftReplacement('t', sticky), /^add table inet t\ndelete table inet t\nadd table inet t\n/)
  })
})

describe('conversations over UDP', () => {
  const ports = input(
    { type: 'NodePort', ports: [{ port: 53, protocol: 'UDP', nodePort: 30_053 }] },
    { '10.1.0.2': ready },
  )
  const flow = (destination: string, destinationPort: number, replySource: string, replyPort = 8080) => ({
    destination,
    destinationPort,
    replySource,
    replyPort,
  })
  const good = [
    flow('10.0.0.5', 53, '10.1.0.2'),
    flow('192.0.2.1', 30_053, '10.1.0.2'),
    flow('8.8.8.8', 53, '8.8.8.8', 53),
  ]
  const stale = [
    flow('10.0.0.5', 53, '10.1.0.9'),
    flow('192.0.2.1', 30_053, '10.1.0.9'),
    flow('10.0.0.5', 53, '10.0.0.5', 53),
  ]

  test('with pods that are gone, or with none, are to be forgotten', () => {
    assert.deepEqual(computeStaleFlows([...good, ...stale], ports), stale)
  })

  test('of a service without pods stay', () => {
    const none = input({ ports: [{ port: 53, protocol: 'UDP' }] }, {})
    assert.deepEqual(computeStaleFlows(stale, none), [])
  })
})
