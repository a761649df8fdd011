import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseDefaultRoute, parseDefaultRoute6, readNodeAddress } from './read-node-address.ts'
import { toCanonicalIp } from './canonical-ip.ts'
import type { AddressSources } from './read-node-address.ts'

const sources: AddressSources = {
  interfaces: () => ({
    lo: ['127.0.0.1', '::1'],
    bridge: ['10.88.0.1'],
    eth0: ['192.0.2.5', '2001:db8::5', 'fe80::5'],
  }),
  defaultRoutes: () => ({ IPv4: 'eth0', IPv6: 'eth0' }),
  lookup: async () => {
    throw new Error('unknown name')
  },
}
const knows = (...ips: string[]): Partial<AddressSources> => ({ lookup: async () => ips })
const cannot = (ip: string, what: string) => `Cannot use "${ip}" as the address of the node: expected ${what}`

describe('readNodeAddress()', () => {
  const rows: readonly (readonly [string, readonly string[], Partial<AddressSources>, string | undefined, string?])[] =
    [
      ['of the default route', [], {}, '192.0.2.5'],
      ['of the default route, IPv6 wanted', ['::'], {}, '2001:db8::5'],
      ['of the name', [], knows('127.0.1.1', '10.88.0.1'), '10.88.0.1'],
      ['of the name, IPv4 first', [], knows('2001:DB8:0::5', '192.0.2.5'), '192.0.2.5'],
      ['of the name, IPv6 wanted', ['::'], knows('192.0.2.5', '2001:DB8:0::5'), '2001:db8::5'],
      ['not of a name for somebody else', [], knows('198.51.100.1'), '192.0.2.5'],
      [
        'of any interface without a default route',
        [],
        { defaultRoutes: () => ({ IPv4: undefined, IPv6: undefined }) },
        '10.88.0.1',
      ],
      ['of the other family', [], { defaultRoutes: () => ({ IPv4: undefined, IPv6: 'eth0' }) }, '2001:db8::5'],
      ['none at all', [], { interfaces: () => ({ lo: ['127.0.0.1'] }) }, undefined],
      ['asked for', ['192.0.2.5', '2001:db8::5'], {}, undefined],
      [
        'asked for, of another machine',
        ['198.51.100.1'],
        {},
        undefined,
        cannot('198.51.100.1', 'one that an interface of this machine has'),
      ],
      ['asked for, loopback', ['127.0.0.1'], {}, undefined, cannot('127.0.0.1', 'one that is not a loopback address')],
      ['asked for, link-local', ['fe80::5'], {}, undefined, cannot('fe80::5', 'one that is not a link-local address')],
      [
        'asked for, multicast',
        ['224.0.0.1'],
        {},
        undefined,
        cannot('224.0.0.1', 'one that is not a multicast address'),
      ],
    ]
  for (const [name, nodeIps, other, found, fault] of rows) {
    test(`the address ${name}`, async () => {
      const report = await readNodeAddress({ nodeName: 'node-1', nodeIps }, { ...sources, ...other })
      assert.deepEqual(report, { fault, found })
    })
  }

  test('a name that is an address needs nothing else', async () => {
    const report = await readNodeAddress({ nodeName: '203.0.113.9', nodeIps: [] }, sources)
    assert.deepEqual(report, { fault: undefined, found: '203.0.113.9' })
  })

  test('asks this machine', async () => {
    const report = await readNodeAddress({ nodeName: 'no-such-name.invalid', nodeIps: ['127.0.0.1'] })
    assert.match(report.fault ?? '', /loopback/)
  })
})

test('toCanonicalIp() writes IPv6 addresses in one way only', () => {
  assert.deepEqual(['2001:DB8:0:0::1', '::', '192.0.2.1'].map(toCanonicalIp), ['2001:db8::1', '::', '192.0.2.1'])
})

test('parseDefaultRoute() finds the interface with the lowest metric', () => {
  const table = `Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth1\t00000000\t010010AC\t0003\t0\t0\t200\t00000000\t0\t0\t0
eth0\t00000000\t010010AC\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth2\t00000000\t010010AC\t0002\t0\t0\t0\t00000000\t0\t0\t0
eth3\t000010AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
`
  assert.equal(parseDefaultRoute(table), 'eth0')
  assert.equal(parseDefaultRoute(''), undefined)
})

test('parseDefaultRoute6() passes over routes to nowhere', () => {
  const zero = '0'.repeat(32)
  const table = `fd000000000000000000000000000000 40 ${zero} 00 ${zero} 00000100 00000001 00000000 00000001     eth1
${zero} 00 ${zero} 00 ${zero} ffffffff 00000001 00000000 00200200       lo
${zero} 00 ${zero} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0
`
  assert.equal(parseDefaultRoute6(table), 'eth0')
  assert.equal(parseDefaultRoute6(''), undefined)
})
