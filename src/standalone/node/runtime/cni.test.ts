import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createConflist } from './cni.ts'

const network = { name: 'pods', bridge: 'pods0', subnet: '10.1.0.0/16', leaseFolder: '/leases', masquerade: true }

describe('createConflist()', () => {
  test('is a bridge with addresses from the subnet, and host ports', () => {
    assert.deepEqual(JSON.parse(createConflist(network)), {
      cniVersion: '1.0.0',
      name: 'pods',
      plugins: [
        {
          type: 'bridge',
          bridge: 'pods0',
          isGateway: true,
          ipMasq: true,
          hairpinMode: true,
          ipam: {
            type: 'host-local',
            dataDir: '/leases',
            ranges: [[{ subnet: '10.1.0.0/16' }]],
            routes: [{ dst: '0.0.0.0/0' }],
          },
        },
        { type: 'portmap', capabilities: { portMappings: true } },
      ],
    })
  })

  test('has a range and a route of IPv6 for pods with both families', () => {
    const { ipam } = JSON.parse(createConflist({ ...network, subnet6: 'fd00::/64' })).plugins[0]
    assert.deepEqual(ipam.ranges, [[{ subnet: '10.1.0.0/16' }], [{ subnet: 'fd00::/64' }]])
    assert.deepEqual(ipam.routes, [{ dst: '0.0.0.0/0' }, { dst: '::/0' }])
  })

  test('rejects a bridge name that the kernel has no room for', () => {
    assert.throws(() => createConflist({ ...network, bridge: 'x'.repeat(16) }), /expected at most 15 characters/)
  })
})
