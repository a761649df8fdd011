import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readAddresses } from './read-result.ts'

describe('readAddresses()', () => {
  const interfaces = [{ name: 'cni0' }, { name: 'veth1' }, { name: 'eth0', sandbox: '/proc/7/ns/net' }]

  test('has both families, IPv4 first, and none of the node', () => {
    const ips = [
      { address: 'fd00::5/64', interface: 2 },
      { address: '10.1.0.1/16', interface: 0 },
      { address: '10.1.0.5/16', interface: 2 },
    ]
    assert.deepEqual(readAddresses({ cniVersion: '1.0.0', interfaces, ips }, 'eth0'), ['10.1.0.5', 'fd00::5'])
  })

  test('takes an address without a device for the pod', () => {
    assert.deepEqual(readAddresses({ ips: [{ version: '4', address: '10.1.0.5/16' }] }, 'eth0'), ['10.1.0.5'])
  })

  test('reads results of the oldest versions', () => {
    const result = { cniVersion: '0.2.0', ip4: { ip: '10.1.0.5/16' }, ip6: { ip: 'fd00::5/64' } }
    assert.deepEqual(readAddresses(result, 'eth0'), ['10.1.0.5', 'fd00::5'])
  })

  test('is content with a result that has none', () => {
    assert.deepEqual([readAddresses(undefined, 'eth0'), readAddresses({ ips: 'x' }, 'eth0')], [[], []])
  })
})
