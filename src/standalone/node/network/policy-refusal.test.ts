import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computePolicyRefusal } from './policy-refusal.ts'
import type { PolicyGround } from './policy-refusal.ts'

describe('computePolicyRefusal() says why policies are not taken', () => {
  const able: PolicyGround = { without: [], runtime: undefined, nftProblem: undefined, seesBridge: true }
  const rows: readonly [name: string, fields: Partial<PolicyGround>, expected: RegExp | undefined][] = [
    ['they are where they can be enforced', {}, undefined],
    ['also without services', { without: ['services'] }, undefined],
    ['when they are switched off', { without: ['policies'] }, /^this node runs without policies/],
    ['where the network is that of another runtime', { runtime: 'unix:///run/x.sock' }, /another runtime \(unix:/],
    ['without nft', { nftProblem: 'nft is not installed' }, /^nft is not installed, .*apt-get install nftables$/],
    ['where nft fails', { nftProblem: 'nft fails: no' }, /^nothing could enforce it: nft fails: no$/],
    ['where the kernel hides what passes through a bridge', { seesBridge: false }, /br_netfilter/],
  ]
  for (const [name, fields, expected] of rows) {
    test(name, () => {
      const refusal = computePolicyRefusal({ ...able, ...fields })
      if (expected === undefined) assert.equal(refusal, undefined)
      else assert.match(refusal ?? '', expected)
    })
  }
})
