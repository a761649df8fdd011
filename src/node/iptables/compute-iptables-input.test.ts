import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeIptablesInput } from './compute-iptables-input.ts'

const OWN = ['*mangle', ':KUBE-IPTABLES-HINT - [0:0]', ':KUBE-KUBELET-CANARY - [0:0]', 'COMMIT', '*nat']
const CANARY = ':KUBE-KUBELET-CANARY - [0:0]'
const BLOCK =
  '-A KUBE-FIREWALL -m comment --comment "block incoming localnet connections" -d 127.0.0.0/8 ! -s 127.0.0.0/8 ' +
  '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP'
const EMPTY = '*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n'
// As iptables-save writes it, in its own order.
const SAVED_BLOCK =
  '-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" ' +
  '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP'
const CHAIN = ':KUBE-FIREWALL - [0:0]'

const show = (text: string) => text.trimEnd().split('\n')
const filter = (...lines: readonly string[]) => [...OWN, CANARY, 'COMMIT', '*filter', CANARY, ...lines, 'COMMIT']

describe('computeIptablesInput()', () => {
  for (const [name, family, saved, expected] of [
    ['nothing is there', 'ipv4', EMPTY, [CHAIN, '-I INPUT -j KUBE-FIREWALL', '-I OUTPUT -j KUBE-FIREWALL', BLOCK]],
    ['IPv6 has no firewall', 'ipv6', EMPTY, []],
    [
      'everything is there',
      'ipv4',
      `*filter\n${CHAIN}\n-A INPUT -j KUBE-FIREWALL\n-A OUTPUT -j KUBE-FIREWALL\n${SAVED_BLOCK}\nCOMMIT\n`,
      [],
    ],
    [
      'a chain with rules of another program keeps them',
      'ipv4',
      `*filter\n${CHAIN}\n-A OUTPUT -j KUBE-FIREWALL\n-A KUBE-FIREWALL -m mark --mark 0x8000 -j DROP\nCOMMIT\n`,
      ['-I INPUT -j KUBE-FIREWALL', BLOCK],
    ],
  ] as const) {
    test(name, () => assert.deepEqual(show(computeIptablesInput(family, saved)), filter(...expected)))
  }
})
