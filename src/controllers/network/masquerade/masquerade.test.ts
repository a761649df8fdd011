import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatIptablesInput } from '../iptables/iptables-state.ts'
import { computeMasqueradeChains, computeMasqueradeState } from './masquerade.ts'

describe('computeMasqueradeState()', () => {
  for (const [ranges, rules] of [
    [['10.1.0.0/16'], ['ip saddr 10.1.0.0/16 ip daddr != { 10.1.0.0/16, 224.0.0.0/4 } masquerade']],
    [
      ['10.1.0.0/16', 'fd00:1::/64'],
      [
        'ip saddr 10.1.0.0/16 ip daddr != { 10.1.0.0/16, 224.0.0.0/4 } masquerade',
        'ip6 saddr fd00:1::/64 ip6 daddr != { fd00:1::/64, ff00::/8 } masquerade',
      ],
    ],
  ] as const) {
    test(`has a rule for each family: ${ranges.join(', ')}`, () => {
      const { chains, sets } = computeMasqueradeState(ranges)
      const hook = 'type nat hook postrouting priority 100; policy accept;'
      assert.deepEqual([...chains], [['postrouting', { hook, rules }]])
      assert.equal(sets.size, 0)
    })
  }
})

test('computeMasqueradeChains() has a chain for each family that pods have addresses of', () => {
  const { IPv4, IPv6 } = computeMasqueradeChains(['10.1.0.0/16', 'fd00:1::/64'], 'DHM-1')
  assert.ok(IPv4 !== undefined && IPv6 !== undefined)
  assert.ok(
    formatIptablesInput(IPv4, 'DHM-1', '').includes(
      [
        '*nat',
        ':DHM-1-POST - [0:0]',
        '-A DHM-1-POST -s 10.1.0.0/16 -d 10.1.0.0/16 -j RETURN',
        '-A DHM-1-POST -s 10.1.0.0/16 -d 224.0.0.0/4 -j RETURN',
        '-A DHM-1-POST -s 10.1.0.0/16 -j MASQUERADE',
        '-I POSTROUTING -j DHM-1-POST',
        'COMMIT',
      ].join('\n'),
    ),
  )
  assert.deepEqual(IPv6.chains.nat.get('DHM-1-POST')?.at(-1), '-s fd00:1::/64 -j MASQUERADE')
  assert.deepEqual(Object.keys(computeMasqueradeChains(['10.1.0.0/16'], 'DHM-1')), ['IPv4'])
})
