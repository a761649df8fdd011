import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeMasqueradeState } from './masquerade.ts'

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
