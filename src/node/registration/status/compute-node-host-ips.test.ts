import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeNodeHostIps } from './compute-node-host-ips.ts'

const internal = (address: string) => ({ type: 'InternalIP', address })
const external = (address: string) => ({ type: 'ExternalIP', address })

const rows: readonly [
  name: string,
  addresses: Parameters<typeof computeNodeHostIps>[0],
  expected: readonly string[],
][] = [
  ['no addresses', undefined, []],
  [
    'names alone',
    [
      { type: 'Hostname', address: 'a' },
      { type: 'InternalDNS', address: 'a.test' },
    ],
    [],
  ],
  ['external alone', [external('203.0.113.1')], ['203.0.113.1']],
  ['internal before external', [external('203.0.113.1'), internal('192.0.2.1')], ['192.0.2.1']],
  ['only the first of a family', [internal('192.0.2.1'), internal('192.0.2.2')], ['192.0.2.1']],
  ['both families', [internal('2001:DB8:0::1'), internal('192.0.2.1')], ['2001:db8::1', '192.0.2.1']],
  ['the second family from outside', [external('2001:db8::9'), internal('192.0.2.1')], ['192.0.2.1', '2001:db8::9']],
  ['both families from outside', [external('203.0.113.1'), external('2001:db8::9')], ['203.0.113.1', '2001:db8::9']],
  ['what cannot be read is passed over', [internal('here'), external('203.0.113.1')], ['203.0.113.1']],
]

describe('computeNodeHostIps()', () => {
  for (const [name, addresses, expected] of rows) {
    test(name, () => assert.deepEqual(computeNodeHostIps(addresses), expected))
  }
})
