import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeIdRange } from './compute-id-range.ts'

const line = (first: number, length: number) => `0: kubelet ${first} ${length}\n`
const both = (text: string) => ({ uids: text, gids: text })

describe('computeIdRange()', () => {
  test('begins after the first block, where no ids are set aside', () => {
    assert.deepEqual(computeIdRange({ idsPerPod: 65_536, maxPods: 110, subordinate: undefined }), {
      first: 65_536,
      length: 7_208_960,
    })
    assert.deepEqual(computeIdRange({ idsPerPod: 131_072, maxPods: 2, subordinate: undefined }), {
      first: 131_072,
      length: 262_144,
    })
  })

  test('takes the ids that are set aside', () => {
    assert.deepEqual(computeIdRange({ idsPerPod: 65_536, maxPods: 2, subordinate: both(line(655_360, 196_608)) }), {
      first: 655_360,
      length: 196_608,
    })
  })

  const rows: readonly (readonly [name: string, uids: string, gids: string, expected: RegExp])[] = [
    ['two ranges', line(65_536, 65_536).repeat(2), line(65_536, 65_536), /expected one line/],
    ['no range', '', '', /getsubids says "", expected one line/],
    ['other text', 'kubelet', 'kubelet', /expected one line/],
    ['other groups than users', line(65_536, 131_072), line(131_072, 131_072), /131072 from 65536 on.*differ/],
    ['ids of the node itself', line(0, 131_072), line(0, 131_072), /begin at 0, expected 65536 or more/],
    ['an odd beginning', line(65_537, 131_072), line(65_537, 131_072), /first is 65537, expected a multiple of 65536/],
    ['an odd length', line(65_536, 131_073), line(65_536, 131_073), /length is 131073, expected a multiple/],
    ['too few', line(65_536, 65_536), line(65_536, 65_536), /there are 65536, expected at least 131072 for 2 pods/],
  ]
  for (const [name, uids, gids, expected] of rows) {
    test(`rejects ${name}`, () => {
      assert.throws(() => computeIdRange({ idsPerPod: 65_536, maxPods: 2, subordinate: { uids, gids } }), expected)
    })
  }
})
