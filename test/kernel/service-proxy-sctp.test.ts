import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createNetworkLab } from './network-lab.ts'
import { createProxy } from './proxy-lab.ts'
import { askSctp, findSctpObstacle, serveSctp } from './sctp.ts'

const VIP = '10.124.0.20'
const PORT = 36_412
const TARGET_PORT = 38_412
const NODE_PORT = 30_412

describe('packets of SCTP to services in networks of their own', { timeout: 120_000 }, () => {
  for (const program of ['nft', 'iptables'] as const) {
    test(`by ${program}: pods, the node and neighbours reach a pod; without one they are refused, and nothing leaves the machine`, async (t) => {
      const lab = await createNetworkLab(t, ['a', 'client'])
      const { node, neighbour } = lab
      const [a, client] = lab.pods
      assert.ok(a !== undefined && client !== undefined)
      const obstacle = await findSctpObstacle(node)
      if (obstacle !== undefined) return t.skip(obstacle)
      await serveSctp(t, a, 'a')
      await serveSctp(t, neighbour, 'neighbour')
      // The neighbour has the address of the service too, and the way to it is the only one: what the rules let pass is answered there.
      await neighbour.run('ip', 'address', 'add', `${VIP}/32`, 'dev', 'lo')
      await node.run('ip', 'link', 'delete', 'dev', 'svc0')
      await node.run('ip', 'route', 'add', 'default', 'via', '192.0.2.2')
      assert.equal(await askSctp(client, VIP, PORT, 4001), `neighbour 10.123.0.3:4001 ${VIP}:${PORT}`)
      assert.equal(await askSctp(node, VIP, PORT, 4002), `neighbour 192.0.2.1:4002 ${VIP}:${PORT}`)

      const proxy = await createProxy(t, lab, { program })
      const ports = [{ port: PORT, protocol: 'SCTP', nodePort: NODE_PORT }]
      proxy.service('signal', { type: 'NodePort', clusterIP: VIP, ports })
      await proxy.until('rules', async () => (await proxy.listing()).includes(String(NODE_PORT)))
      const checkRefused = async (from: number) => {
        assert.equal(await askSctp(client, VIP, PORT, from), 'ECONNREFUSED')
        // A program on the node itself may not even send it.
        assert.match(await askSctp(node, VIP, PORT, from + 1), /^(?:ECONNREFUSED|EPERM)$/)
        assert.equal(await askSctp(neighbour, '192.0.2.1', NODE_PORT, from + 2), 'ECONNREFUSED')
        // Another port of it.
        assert.equal(await askSctp(client, VIP, PORT + 1, from + 3), 'ECONNREFUSED')
      }
      await checkRefused(4011)

      proxy.slice('signal', ['10.123.0.2'], { port: TARGET_PORT, protocol: 'SCTP' })
      await proxy.until('a target', async () => (await proxy.listing()).includes(`10.123.0.2:${TARGET_PORT}`))
      // The answers have the address and port that were asked, or nobody would take them.
      assert.equal(await askSctp(client, VIP, PORT, 4021), `a 10.123.0.3:4021 10.123.0.2:${TARGET_PORT}`)
      assert.match(await askSctp(node, VIP, PORT, 4022), /^a [\d.]+:4022 10\.123\.0\.2:38412$/)
      assert.match(await askSctp(node, '192.0.2.1', NODE_PORT, 4023), /^a [\d.]+:4023 10\.123\.0\.2:38412$/)
      assert.equal(await askSctp(neighbour, '192.0.2.1', NODE_PORT, 4024), `a 192.0.2.2:4024 10.123.0.2:${TARGET_PORT}`)
      // A pod that is sent to itself comes from the node.
      assert.equal(await askSctp(a, VIP, PORT, 4025), `a 10.123.0.1:4025 10.123.0.2:${TARGET_PORT}`)

      proxy.slice('signal', [], { port: TARGET_PORT, protocol: 'SCTP' })
      await proxy.until('no target', async () => !(await proxy.listing()).includes(`10.123.0.2:${TARGET_PORT}`))
      await checkRefused(4031)
    })
  }
})
