import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dnsSubdomain } from '../../model/schema/validation/name-rules.ts'
import { computeNodeName } from './compute-node-name.ts'

describe('computeNodeName()', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['web-1', 'web-1'],
    ['Web-1.Shop.Example', 'web-1.shop.example'],
    [' web ', 'web'],
    ['my_host', 'my-host'],
    ['_my__host_', 'my-host'],
    ['a..b.', 'a.b'],
    ['büro', 'b-ro'],
    ['(none)', 'none'],
    ['___', 'node'],
    ['', 'node'],
  ]
  for (const [hostname, expected] of rows) {
    test(`"${hostname}" is "${expected}"`, () => {
      assert.equal(computeNodeName(hostname), expected)
      assert.equal(dnsSubdomain(expected), undefined)
    })
  }
})
