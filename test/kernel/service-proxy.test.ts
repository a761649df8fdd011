import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createNetworkLab } from './network-lab.ts'
import { createProxy, TABLE } from './proxy-lab.ts'

const VIP = '10.124.0.20'

describe('the rules of services in networks of their own', { timeout: 120_000 }, () => {
  test('pods, the node and neighbours reach pods; without any they are refused; flushed rules come back', async (t) => {
    const lab = await createNetworkLab(t, ['a', 'b'])
    const { node, pods, neighbour } = lab
    const [a] = pods
    assert.ok(a !== undefined)
    const proxy = await createProxy(t, lab)
    proxy.service('web', { type: 'NodePort', clusterIP: VIP, ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }] })
    proxy.slice('web', ['10.123.0.2', '10.123.0.3'])
    await proxy.until('rules', async () => (await proxy.listing()).includes(VIP))

    const answers = new Set<string>()
    for (let n = 0; n < 12 && answers.size < 2; n++) answers.add(await a.connect('tcp', VIP, 80))
    // A pod that is sent to itself comes from the node; another one sees who really asks.
    assert.deepEqual([...answers].sort(), ['a 10.123.0.1', 'b 10.123.0.2'])
    assert.match(await node.connect('tcp', VIP, 80), /^[ab] /)
    assert.match(await node.connect('tcp', '192.0.2.1', 30_080), /^[ab] /)
    assert.match(await a.connect('tcp', '192.0.2.1', 30_080), /^[ab] /)
    assert.equal(await node.connect('tcp', '127.0.0.1', 30_080), 'ECONNREFUSED')
    // The source is kept.
    assert.match(await neighbour.connect('tcp', '192.0.2.1', 30_080), /^[ab] 192\.0\.2\.2$/)

    // Another port, another address of the range: nothing of it leaves the machine, and nobody waits.
    assert.equal(await a.connect('tcp', VIP, 81), 'ECONNREFUSED')
    assert.equal(await a.connect('tcp', '10.124.9.9', 80), 'ECONNREFUSED')
    assert.equal(await node.connect('tcp', '10.124.9.9', 80), 'ECONNREFUSED')

    await lab.node.run('nft', 'flush', 'ruleset')
    await proxy.until('rules that are back', async () => (await proxy.listing()).includes(VIP))
    await lab.node.run('nft', 'flush', 'table', 'inet', TABLE)
    await proxy.until('rules that are back again', async () => (await proxy.listing()).includes('jump services'))
    assert.match(await a.connect('tcp', VIP, 80), /^[ab] /)

    await proxy.restart()
    assert.match(await a.connect('tcp', VIP, 80), /^[ab] /)
    proxy.slice('web', [])
    await proxy.until('no targets', async () => (await proxy.listing()).includes(`${VIP} . tcp . 80 : goto refuse`))
    assert.equal(await a.connect('tcp', VIP, 80), 'ECONNREFUSED')
    // At once: a client that did not take the refusal would have asked again.
    assert.match(await proxy.listing(), /counter packets 1 bytes \d+ reject with tcp reset/)
    assert.equal(await node.connect('tcp', VIP, 80), 'ECONNREFUSED')
    assert.equal(await neighbour.connect('tcp', '192.0.2.1', 30_080), 'ECONNREFUSED')

    await proxy.nft.remove(TABLE, new AbortController().signal)
  })

  test('UDP: a client that keeps its port gets to the next pod, and to the first one; the kernel takes rules for SCTP', async (t) => {
    const lab = await createNetworkLab(t, ['a', 'b', 'client'])
    const client = lab.pods[2]
    assert.ok(client !== undefined)
    const proxy = await createProxy(t, lab)
    proxy.service('dns', { clusterIP: VIP, ports: [{ port: 53, protocol: 'UDP' }] })
    await proxy.until('refusal', async () => (await proxy.listing()).includes('goto refuse'))
    assert.equal(await client.connect('udp', VIP, 53, 4000), 'ECONNREFUSED')
    proxy.slice('dns', ['10.123.0.2'], { port: 5353, protocol: 'UDP' })
    await proxy.until('the first', async () => (await client.connect('udp', VIP, 53, 4000)) === 'a 10.123.0.4')
    proxy.slice('dns', ['10.123.0.3'], { port: 5353, protocol: 'UDP' })
    await proxy.until('the next', async () => (await client.connect('udp', VIP, 53, 4000)) === 'b 10.123.0.4')
    // Packets of it are in service-proxy-sctp.test.ts.
    proxy.service('signal', { clusterIP: '10.124.0.22', ports: [{ port: 36_412, protocol: 'SCTP' }] })
    proxy.slice('signal', ['10.123.0.2'], { port: 36_412, protocol: 'SCTP' })
    const isTaken = /10\.124\.0\.22 \. sctp \. 36412 : goto/
    await proxy.until('rules of SCTP', async () => isTaken.test(await proxy.listing()))
    assert.match(await proxy.listing(), /meta l4proto sctp dnat ip to 10\.123\.0\.2:36412/)
  })

  test('sessions: a client stays with its pod, over other changes and a restart, until the pod is gone', async (t) => {
    const lab = await createNetworkLab(t, ['a', 'b', 'client'])
    const client = lab.pods[2]
    assert.ok(client !== undefined)
    const proxy = await createProxy(t, lab)
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: 100 } }
    proxy.service('web', { clusterIP: VIP, sessionAffinity: 'ClientIP', sessionAffinityConfig })
    proxy.slice('web', ['10.123.0.2', '10.123.0.3'])
    await proxy.until('rules', async () => (await proxy.listing()).includes(VIP))
    const first = await client.connect('tcp', VIP, 80)
    for (let n = 0; n < 5; n++) assert.equal(await client.connect('tcp', VIP, 80), first)
    proxy.service('other', { clusterIP: '10.124.0.21' })
    await proxy.until('the other', async () => (await proxy.listing()).includes('10.124.0.21'))
    await proxy.restart()
    await sleep(300)
    for (let n = 0; n < 5; n++) assert.equal(await client.connect('tcp', VIP, 80), first)
    // Nobody is kept for longer than asked.
    const brief = { clientIP: { timeoutSeconds: 1 } }
    proxy.service('brief', { clusterIP: '10.124.0.22', sessionAffinity: 'ClientIP', sessionAffinityConfig: brief })
    proxy.slice('brief', ['10.123.0.2'])
    await proxy.until('the brief one', async () => (await proxy.listing()).includes('10.124.0.22'))
    await client.connect('tcp', '10.124.0.22', 80)
    const kept = async () => /aff_1_[^}]*\{[^}]*10\.123\.0\.4 /.test(await proxy.listing())
    await proxy.until('forgotten', async () => !(await kept()))
    const isA = first.startsWith('a')
    proxy.slice('web', [isA ? '10.123.0.3' : '10.123.0.2'])
    await proxy.until('the other pod', async () => (await client.connect('tcp', VIP, 80)).startsWith(isA ? 'b' : 'a'))
  })

  test('IPv6, endpoints elsewhere, addresses of balancers with sources, local policies', async (t) => {
    const lab = await createNetworkLab(t, ['a', 'b'])
    const { node, pods, neighbour } = lab
    const [a, b] = pods
    assert.ok(a !== undefined && b !== undefined)
    const proxy = await createProxy(t, lab)
    proxy.service('six', { clusterIP: 'fd00:124::20', ipFamilies: ['IPv6'] })
    proxy.slice('six', ['fd00:123::2'], { addressType: 'IPv6' })
    proxy.service('away', {
      clusterIP: VIP,
      type: 'NodePort',
      ports: [{ port: 80, protocol: 'TCP', nodePort: 30_081 }],
    })
    proxy.slice('away', ['192.0.2.2'], { nodeName: undefined })
    const balanced = {
      type: 'LoadBalancer',
      clusterIP: '10.124.0.22',
      loadBalancerSourceRanges: ['192.0.2.128/25', '10.123.0.0/16'],
    }
    proxy.service('balanced', balanced, { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] } })
    proxy.slice('balanced', ['10.123.0.2'])
    proxy.service('local', { clusterIP: '10.124.0.23', internalTrafficPolicy: 'Local' })
    proxy.slice('local', ['192.0.2.2'], { nodeName: 'n2' })
    const outside = (name: string, clusterIP: string, nodePort: number) =>
      proxy.service(name, {
        clusterIP,
        type: 'NodePort',
        externalTrafficPolicy: 'Local',
        ports: [{ port: 80, protocol: 'TCP', nodePort }],
      })
    outside('here', '10.124.0.24', 30_082)
    proxy.slice('here', ['10.123.0.2'])
    outside('there', '10.124.0.25', 30_083)
    proxy.slice('there', ['192.0.2.2'], { nodeName: 'n2' })
    await proxy.until('rules', async () => (await proxy.listing()).includes('10.124.0.23 . tcp . 80 : goto ignore'))
    assert.equal(await b.connect('tcp', 'fd00:124::20', 80), 'a fd00:123::3')
    assert.match(await node.connect('tcp', 'fd00:124::20', 80), /^a /)
    assert.equal(await b.connect('tcp', 'fd00:124::99', 80), 'ECONNREFUSED')
    // What leaves the machine comes from it, or the answer would never come back.
    assert.equal(await a.connect('tcp', VIP, 80), 'neighbour 192.0.2.1')
    assert.equal(await node.connect('tcp', VIP, 80), 'neighbour 192.0.2.1')
    assert.equal(await b.connect('tcp', '192.0.2.1', 80), 'a 10.123.0.3')
    assert.equal(await neighbour.connect('tcp', '192.0.2.1', 80), 'timeout')
    assert.equal(await a.connect('tcp', '10.124.0.23', 80), 'timeout')
    // From outside to an endpoint elsewhere, by the port of the node.
    assert.equal(await neighbour.connect('tcp', '192.0.2.1', 30_081), 'neighbour 192.0.2.1')
    // What comes from outside stays on the node and keeps its source; pods and the node are not outside.
    assert.equal(await neighbour.connect('tcp', '192.0.2.1', 30_082), 'a 192.0.2.2')
    assert.equal(await neighbour.connect('tcp', '192.0.2.1', 30_083), 'timeout')
    assert.equal(await b.connect('tcp', '192.0.2.1', 30_083), 'neighbour 192.0.2.1')
    assert.equal(await node.connect('tcp', '192.0.2.1', 30_083), 'neighbour 192.0.2.1')
  })

  test('where bridged packets are not seen, pods of one bridge reach each other through the node', async (t) => {
    const lab = await createNetworkLab(t, ['a', 'b'])
    const [a] = lab.pods
    assert.ok(a !== undefined)
    await lab.node.run('sysctl', '-q', '-w', 'net.bridge.bridge-nf-call-iptables=0')
    const proxy = await createProxy(t, lab, { seesBridge: false })
    proxy.service('web', { clusterIP: VIP })
    proxy.slice('web', ['10.123.0.3'])
    await proxy.until('rules', async () => (await proxy.listing()).includes(VIP))
    assert.equal(await a.connect('tcp', VIP, 80), 'b 10.123.0.1')
  })
})

describe('many connections of services in networks of their own', { timeout: 120_000 }, () => {
  test('connections are shared out evenly; none fails while rules are taken over; none is cut; what is broken is healed', async (t) => {
    const lab = await createNetworkLab(t, ['a', 'b', 'c', 'client'])
    const client = lab.pods[3]
    assert.ok(client !== undefined)
    const proxy = await createProxy(t, lab)
    const everyone = ['10.123.0.2', '10.123.0.3', '10.123.0.4']
    proxy.service('web', { clusterIP: VIP })
    proxy.slice('web', everyone)
    proxy.service('long', { clusterIP: '10.124.0.21', ports: [{ port: 8081, protocol: 'TCP' }] })
    proxy.slice('long', ['10.123.0.2'], { port: 8081 })
    await proxy.until('rules', async () => (await proxy.listing()).includes('10.124.0.21'))

    const shares = await client.many(VIP, 80, 3000)
    assert.deepEqual(Object.keys(shares).sort(), ['a', 'b', 'c'])
    for (const share of Object.values(shares)) assert.ok(share >= 900 && share <= 1100, JSON.stringify(shares))

    const held = await client.hold('10.124.0.21')
    const [during] = await Promise.all([
      client.many(VIP, 80, 3000),
      (async () => {
        for (let n = 0; n < 4; n++) await proxy.restart()
      })(),
    ])
    assert.deepEqual(Object.keys(during).sort(), ['a', 'b', 'c'])

    // Its pod is not an endpoint any more, and lives.
    proxy.slice('long', [])
    await proxy.until('no endpoint', async () =>
      (await proxy.listing()).includes('10.124.0.21 . tcp . 8081 : goto refuse'),
    )
    assert.equal(await held.ask(), 'still here')
    assert.equal(await client.connect('tcp', '10.124.0.21', 8081), 'ECONNREFUSED')

    // Somebody takes an element away: the next change fails, and all is written.
    await lab.node.run('nft', 'delete', 'element', 'inet', TABLE, 'svc4', `{ ${VIP} . tcp . 80 }`)
    assert.equal(await client.connect('tcp', VIP, 80), 'ECONNREFUSED')
    proxy.slice('web', [])
    await proxy.until('a refusal', async () => (await proxy.listing()).includes(`${VIP} . tcp . 80 : goto refuse`))
    proxy.slice('web', everyone)
    await proxy.until('an answer', async () => /^[abc] /.test(await client.connect('tcp', VIP, 80)))

    // Without an API nothing is known, and nothing is taken away.
    proxy.slice('web', [])
    await proxy.until('a refusal again', async () =>
      (await proxy.listing()).includes(`${VIP} . tcp . 80 : goto refuse`),
    )
    proxy.slice('web', everyone)
    await proxy.until('an answer again', async () => /^[abc] /.test(await client.connect('tcp', VIP, 80)))
    await proxy.restart(false)
    proxy.slice('web', [])
    await sleep(500)
    assert.match(await client.connect('tcp', VIP, 80), /^[abc] /)
  })
})
