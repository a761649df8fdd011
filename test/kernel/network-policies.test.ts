import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/async/clock.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { LiveObjects } from '../../src/controllers/engine/live-objects.ts'
import { createPolicyController } from '../../src/controllers/network/network-policies/policy-controller.ts'
import type { NetworkPolicy, NetworkPolicySpec } from '../../src/model/generated/api-groups.ts'
import type { Namespace, Pod } from '../../src/model/generated/core-v1.ts'
import { Nft } from '../../src/system/network/nft.ts'
import { createNetworkLab } from './network-lab.ts'

const TABLE = 'deckhand-test-policies'
const VIP = '10.124.0.20'
const A = '10.123.0.2'
const B = '10.123.0.3'
const NODE = '10.123.0.1'
const SERVICE = `table inet service {
  chain in { type nat hook prerouting priority -100; ip daddr ${VIP} tcp dport 80 dnat ip to ${A}:8080; }
  chain out { type nat hook postrouting priority 100; ip saddr ${A} ip daddr ${A} masquerade; }
}`

/** Policies on the node of a lab: pods, namespaces and policies that a test writes. */
async function createPolicies(t: TestContext) {
  const lab = await createNetworkLab(t, ['a', 'b', 'c'])
  const policies = new LiveObjects<NetworkPolicy>()
  const pods = new LiveObjects<Pod>()
  const namespaces = new LiveObjects<Namespace>()
  let version = 0
  const meta = (namespace: string, name: string, labels: object) => {
    version += 1
    return { namespace, name, uid: `${namespace}/${name}`, resourceVersion: String(version).padStart(6, '0'), labels }
  }
  const nft = new Nft(systemClock, lab.node.enter)
  const followed = <T extends object>(known: LiveObjects<T>) => ({ known, untilSynced: () => Promise.resolve() })
  let stop = new AbortController()
  const start = () => {
    stop = new AbortController()
    const controller = createPolicyController(
      {
        clock: systemClock,
        log: silentLogger,
        policies: followed(policies),
        pods: followed(pods),
        namespaces: followed(namespaces),
      },
      {
        table: TABLE,
        network: { bridge: 'br0', dnsAddresses: ['10.124.0.1'] },
        rules: nft,
        ensureBridgeIsSeen: () => false,
      },
    )
    const group = new TaskGroup(stop.signal)
    group.run('policies', (signal) => controller.run(signal))
    return async () => {
      stop.abort(new Error('over'))
      await group[Symbol.asyncDispose]()
    }
  }
  let end = start()
  t.after(() => end())
  const listing = () => lab.node.run('nft', 'list', 'table', 'inet', TABLE).catch(() => '')
  return {
    lab,
    listing,
    async until(what: string, holds: (listing: string) => boolean) {
      for (const last = performance.now() + 10_000; !holds(await listing()); await sleep(20))
        if (performance.now() > last) throw new Error(`Not in time: ${what}\n${await listing()}`)
    },
    namespace: (name: string, labels: object) => namespaces.wrote({ metadata: meta('', name, labels) } as Namespace),
    pod(place: string, addresses: readonly string[], labels: object = {}) {
      const [namespace = '', name = ''] = place.split('/')
      const ports = [{ name: 'http', containerPort: 8080 }]
      pods.wrote({
        metadata: meta(namespace, name, labels),
        spec: { containers: [{ name: 'c', image: 'i', ports }] },
        status: { phase: 'Running', podIPs: addresses.map((ip) => ({ ip })) },
      } as Pod)
    },
    policy(name: string, spec: NetworkPolicySpec) {
      const filled = { policyTypes: ['Ingress'], ...spec }
      policies.wrote({ metadata: meta('default', name, {}), spec: filled } as NetworkPolicy)
    },
    remove(name: string) {
      const policy = policies.get('default', name)
      if (policy !== undefined) policies.lost(policy)
    },
    async restart() {
      await end()
      end = start()
    },
  }
}

/** What comes of several connections, which are made at once. */
async function expect(...rows: readonly (readonly [outcome: Promise<string>, expected: RegExp])[]): Promise<void> {
  for (const [outcome, expected] of rows) assert.match(await outcome, expected)
}

const DENIED = /^timeout$/

describe('network policies in networks of their own', { timeout: 120_000, concurrency: true }, () => {
  test('between pods of one bridge, with the node, neighbours and services; flushes and restarts', async (t) => {
    const world = await createPolicies(t)
    const { node, pods, neighbour } = world.lab
    const [a, b, c] = pods
    assert.ok(a !== undefined && b !== undefined && c !== undefined)
    world.namespace('default', { team: 'red' })
    world.namespace('other', { team: 'blue' })
    world.pod('default/a', [A, 'fd00:123::2'], { app: 'a' })
    world.pod('default/b', [B, 'fd00:123::3'], { app: 'b' })
    await sleep(100)
    assert.equal(await world.listing(), '', 'no policy, no table')

    // A service, by which the kernel also keeps track of connections; one that stays over all that follows.
    await node.run('nft', SERVICE)
    const held = await b.hold(A)
    world.policy('deny', { podSelector: { matchLabels: { app: 'a' } } })
    await world.until('rules', (text) => text.includes('pods-in_default/deny'))
    await expect(
      [b.connect('tcp', A, 8080), DENIED],
      [b.connect('tcp', 'fd00:123::2', 8080), DENIED],
      [neighbour.connect('tcp', A, 8080), DENIED],
    )
    // The node always reaches its pods; a pod reaches itself, and answers to what it asked.
    await expect(
      [node.connect('tcp', A, 8080), /^a /],
      [node.connect('tcp', 'fd00:123::2', 8080), /^a /],
      [a.connect('tcp', A, 8080), /^a /],
      [a.connect('tcp', B, 8080), /^b /],
    )
    assert.equal(await held.ask(), 'still here')

    // A pod that is not known yet is not open, and has no network; once it is known it has.
    await expect([a.connect('tcp', '10.123.0.4', 8080), DENIED], [c.connect('tcp', B, 8080), DENIED])
    world.pod('other/c', ['10.123.0.4'], { app: 'c' })
    await world.until('the new pod', (text) => text.includes('10.123.0.4'))
    await expect([c.connect('tcp', B, 8080), /^b /], [c.connect('tcp', A, 8080), DENIED])

    // Another policy adds to it: pods of other namespaces, at a port by its name.
    const blue = { namespaceSelector: { matchLabels: { team: 'blue' } } }
    world.policy('allow', { podSelector: {}, ingress: [{ from: [blue], ports: [{ port: 'http' }] }] })
    await world.until('the port', (text) => text.includes(`${A} . tcp . 8080`))
    await expect(
      [c.connect('tcp', A, 8080), /^a /],
      [c.connect('udp', A, 5353), DENIED],
      [b.connect('tcp', A, 8080), DENIED],
    )
    // The label of a namespace counts at once.
    world.namespace('other', { team: 'green' })
    await world.until('no peer', (text) => !/in_default\/allow\/0-pods4 \{[^}]*10\.123\.0\.4/.test(text))
    await expect([c.connect('tcp', A, 8080), DENIED])

    // What a service sends to a pod is judged by who asks for it, and by the pod that it gets to.
    world.policy('allow', { podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { app: 'b' } } }] }] })
    await world.until('only b', (text) => /in_default\/allow\/0-pods4 \{[^}]*10\.123\.0\.3/.test(text))
    await expect([b.connect('tcp', VIP, 80), /^a 10\.123\.0\.3$/], [c.connect('tcp', VIP, 80), DENIED])
    // To itself through the service.
    await expect([a.connect('tcp', VIP, 80), /^a /])

    await node.run('nft', 'flush', 'ruleset')
    await world.until('rules that are back', (text) => text.includes('goto egress'))
    await expect([c.connect('tcp', A, 8080), DENIED])
    await world.restart()
    await expect([c.connect('tcp', A, 8080), DENIED])
    world.remove('deny')
    world.remove('allow')
    await world.until('no table without policies', (text) => text === '')
    await expect([c.connect('tcp', A, 8080), /^a /])
  })

  test('what leaves a pod: blocks with exceptions, other machines, the node; names are always answered', async (t) => {
    const world = await createPolicies(t)
    const { node, pods, neighbour } = world.lab
    const [a, b, c] = pods
    assert.ok(a !== undefined && b !== undefined && c !== undefined)
    await node.serve('node')
    world.namespace('default', {})
    for (const [index, name] of ['a', 'b', 'c'].entries())
      world.pod(`default/${name}`, [`10.123.0.${index + 2}`], { app: name })
    const onlyA = { podSelector: { matchLabels: { app: 'a' } }, policyTypes: ['Egress'] }
    world.policy('out', { ...onlyA, egress: [{ to: [{ ipBlock: { cidr: '10.123.0.0/24', except: [`${B}/32`] } }] }] })
    await world.until('rules', (text) => text.includes('pods-eg_default/out'))
    await expect(
      [a.connect('tcp', '10.123.0.4', 8080), /^c /],
      [a.connect('tcp', B, 8080), DENIED],
      [a.connect('tcp', '192.0.2.2', 8080), DENIED],
    )
    // All that comes is let in, and so is the answer.
    await expect(
      [b.connect('tcp', A, 8080), /^a /],
      [neighbour.connect('tcp', A, 8080), /^a /],
      [b.connect('tcp', '192.0.2.1', 8080), /^node /],
    )
    // The node's own addresses are not exempt, but for names.
    await expect(
      [a.connect('tcp', '192.0.2.1', 8080), DENIED],
      [a.connect('tcp', '10.124.0.1', 53), /^ECONNREFUSED$/],
      [a.connect('tcp', NODE, 8080), /^node /],
    )
    // Through a service it is the pod that has to be allowed; the address of the service says nothing.
    await node.run('nft', SERVICE)
    const onlyB = { podSelector: { matchLabels: { app: 'b' } }, policyTypes: ['Egress'] }
    world.policy('to', { ...onlyB, egress: [{ to: [{ ipBlock: { cidr: `${VIP}/32` } }] }] })
    await world.until('the address of the service', (text) => text.includes('pods-eg_default/to'))
    await expect([b.connect('tcp', VIP, 80), DENIED])
    world.policy('to', {
      ...onlyB,
      egress: [{ to: [{ podSelector: { matchLabels: { app: 'a' } } }], ports: [{ port: 8080 }] }],
    })
    await world.until('the pod', (text) => /eg_default\/to\/0-pods4 \{[^}]*10\.123\.0\.2/.test(text))
    await expect([b.connect('tcp', VIP, 80), /^a /])
    // Both sides have to allow it; a range of ports.
    world.policy('in', {
      podSelector: { matchLabels: { app: 'c' } },
      ingress: [{ ports: [{ port: 8000, endPort: 8079 }] }],
    })
    await world.until('the range', (text) => text.includes('8000-8079'))
    await expect([a.connect('tcp', '10.123.0.4', 8080), DENIED])
    world.policy('in', {
      podSelector: { matchLabels: { app: 'c' } },
      ingress: [{ ports: [{ port: 8000, endPort: 8080 }] }],
    })
    await world.until('a longer one', (text) => text.includes('8000-8080'))
    await expect([a.connect('tcp', '10.123.0.4', 8080), /^c /])
  })
})
