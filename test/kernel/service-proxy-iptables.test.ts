import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createNetworkLab } from './network-lab.ts'
import { CHAIN_PREFIX, createProxy } from './proxy-lab.ts'

const VIP = '10.124.0.20'

describe('the rules of services where there is only iptables', { timeout: 120_000 }, () => {
  test('pods, the node and neighbours reach pods; without any they are refused; flushed rules come back', async (t) => {
    const lab = await createNetworkLab(t, ['a', 'b'])
    const { node, neighbour } = lab
    const [a] = lab.pods
    assert.ok(a !== undefined)
    const proxy = await createProxy(t, lab, { program: 'iptables' })
    proxy.service('web', { type: 'NodePort', clusterIP: VIP, ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }] })
    proxy.slice('web', ['10.123.0.2', '10.123.0.3'])
    await proxy.until('rules', async () => (await proxy.listing()).includes(VIP))

    const answers = new Set<string>()
    for (let n = 0; n < 12 && answers.size < 2; n++) answers.add(await a.connect('tcp', VIP, 80))
    assert.deepEqual([...answers].sort(), ['a 10.123.0.1', 'b 10.123.0.2'])
    assert.match(await node.connect('tcp', VIP, 80), /^[ab] /)
    assert.match(await node.connect('tcp', '192.0.2.1', 30_080), /^[ab] /)
    assert.match(await neighbour.connect('tcp', '192.0.2.1', 30_080), /^[ab] 192\.0\.2\.2$/)
    assert.equal(await a.connect('tcp', VIP, 81), 'ECONNREFUSED')
    assert.equal(await a.connect('tcp', '10.124.9.9', 80), 'ECONNREFUSED')
    assert.equal(await node.connect('tcp', '10.124.9.9', 80), 'ECONNREFUSED')

    // Rules of others stay, ours come back.
    await node.run('iptables', '-t', 'nat', '-A', 'OUTPUT', '-d', '203.0.113.9', '-j', 'RETURN')
    await node.run('iptables', '-t', 'nat', '-F', 'PREROUTING')
    await proxy.until('jumps that are back', async () =>
      (await node.run('iptables-save', '-t', 'nat')).includes(`-A PREROUTING -j ${CHAIN_PREFIX}-SVC`),
    )
    assert.match(await proxy.listing(), /-d 203\.0\.113\.9\/32 -j RETURN/)
    assert.match(await a.connect('tcp', VIP, 80), /^[ab] /)

    // What an earlier process left is taken over, and nothing of it stays that is not needed.
    proxy.service('old', { clusterIP: '10.124.0.21' })
    proxy.slice('old', ['10.123.0.2'])
    await proxy.until('the second', async () => (await proxy.listing()).includes('10.124.0.21'))
    const chains = async () => [...(await proxy.listing()).matchAll(/^:DH-test-S-/gm)].length
    assert.equal(await chains(), 2)
    await proxy.restart()
    proxy.slice('old', [])
    await proxy.until('one chain less', async () => (await chains()) === 1)
    assert.equal(await a.connect('tcp', '10.124.0.21', 80), 'ECONNREFUSED')
    proxy.slice('web', [])
    await proxy.until('no targets', async () => (await chains()) === 0)
    assert.equal(await a.connect('tcp', VIP, 80), 'ECONNREFUSED')
    assert.equal(await neighbour.connect('tcp', '192.0.2.1', 30_080), 'ECONNREFUSED')
  })

  test('sessions, UDP, IPv6, endpoints elsewhere, sources of balancers, local policies', async (t) => {
    const lab = await createNetworkLab(t, ['a', 'b', 'client'])
    const { node, neighbour } = lab
    const [a, b, client] = lab.pods
    assert.ok(a !== undefined && b !== undefined && client !== undefined)
    const proxy = await createProxy(t, lab, { program: 'iptables' })
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: 100 } }
    proxy.service('web', { clusterIP: VIP, sessionAffinity: 'ClientIP', sessionAffinityConfig })
    proxy.slice('web', ['10.123.0.2', '10.123.0.3'])
    proxy.service('dns', { clusterIP: '10.124.0.21', ports: [{ port: 53, protocol: 'UDP' }] })
    proxy.slice('dns', ['10.123.0.2'], { port: 5353, protocol: 'UDP' })
    proxy.service('six', { clusterIP: 'fd00:124::20', ipFamilies: ['IPv6'] })
    proxy.slice('six', ['fd00:123::2'], { addressType: 'IPv6' })
    proxy.service('away', { clusterIP: '10.124.0.24' })
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
    await proxy.until('rules', async () => {
      const text = await proxy.listing()
      return text.includes('10.124.0.23') && text.includes('fd00:124::20')
    })
    const first = await client.connect('tcp', VIP, 80)
    for (let n = 0; n < 5; n++) assert.equal(await client.connect('tcp', VIP, 80), first)
    await proxy.restart()
    await sleep(300)
    for (let n = 0; n < 5; n++) assert.equal(await client.connect('tcp', VIP, 80), first)
    assert.equal(await client.connect('udp', '10.124.0.21', 53, 4000), 'a 10.123.0.4')
    proxy.slice('dns', ['10.123.0.3'], { port: 5353, protocol: 'UDP' })
    await proxy.until('the next', async () => (await client.connect('udp', '10.124.0.21', 53, 4000)) === 'b 10.123.0.4')
    assert.equal(await b.connect('tcp', 'fd00:124::20', 80), 'a fd00:123::3')
    assert.equal(await b.connect('tcp', 'fd00:124::99', 80), 'ECONNREFUSED')
    assert.equal(await a.connect('tcp', '10.124.0.24', 80), 'neighbour 192.0.2.1')
    assert.equal(await node.connect('tcp', '10.124.0.24', 80), 'neighbour 192.0.2.1')
    assert.equal(await b.connect('tcp', '192.0.2.1', 80), 'a 10.123.0.3')
    assert.equal(await neighbour.connect('tcp', '192.0.2.1', 80), 'timeout')
    assert.equal(await a.connect('tcp', '10.124.0.23', 80), 'timeout')
  })
})
