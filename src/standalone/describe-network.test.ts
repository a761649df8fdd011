import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeNetwork } from './describe-network.ts'
import type { NetworkState } from './describe-network.ts'

const up: NetworkState = {
  record: { ingressPorts: { http: 80, https: 443 } },
  services: { range: '10.124.0.0/16', dnsAddress: '10.124.0.10' },
  iptablesReason: undefined,
  policyRefusal: undefined,
  isUp: true,
  hasRules: true,
  portProblems: [],
}
const taken = { protocol: 'https', port: 443, why: 'it is taken by another program' } as const

describe('describeNetwork() says what is true', () => {
  const rows: readonly (readonly [what: string, state: NetworkState, expected: readonly string[]])[] = [
    [
      'while the node is up',
      up,
      [
        'services   addresses in 10.124.0.0/16',
        'names      server at 10.124.0.10',
        'policies   enforced',
        'ingress    HTTP on port 80, HTTPS on port 443',
      ],
    ],
    [
      'after "up" was killed: the rules are there, and nothing else',
      { ...up, isUp: false },
      [
        'services   addresses in 10.124.0.0/16, whose rules follow no change: "deckhand up" does not run',
        'names      not answered: "deckhand up" does not run',
        'policies   enforced as they were, following no change: "deckhand up" does not run',
        'ingress    not served: "deckhand up" does not run',
      ],
    ],
    [
      'after "down"',
      { ...up, isUp: false, hasRules: false },
      [
        'services   addresses in 10.124.0.0/16, not forwarded: "deckhand up" does not run',
        'names      not answered: "deckhand up" does not run',
        'policies   enforced while the node is up',
        'ingress    not served: "deckhand up" does not run',
      ],
    ],
    [
      'of parts that are switched off, also then',
      { ...up, isUp: false, record: { without: ['services', 'dns', 'policies', 'ingress'] } },
      [
        'services   switched off (--without services)',
        'names      switched off (--without dns)',
        'policies   switched off (--without policies)',
        'ingress    switched off (--without ingress)',
      ],
    ],
  ]
  for (const [what, state, expected] of rows) test(what, () => assert.deepEqual(describeNetwork(state), expected))

  for (const [what, portProblems, expected] of [
    ['one port', [taken], 'HTTP on port 80; HTTPS on port 443 is not served: it is taken by another program'],
    [
      'both ports',
      [{ ...taken, protocol: 'http', port: 80 }, taken],
      'HTTP on port 80 is not served: it is taken by another program; HTTPS on port 443 is not served: it is taken by another program',
    ],
    ['ports that were not tried yet', undefined, 'HTTP on port 80, HTTPS on port 443: not open yet'],
  ] as const)
    test(`of an ingress without ${what}`, () =>
      assert.equal(describeNetwork({ ...up, portProblems }).at(-1), `ingress    ${expected}`))
})
