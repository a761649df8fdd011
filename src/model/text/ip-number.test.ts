import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { normalizeIp, parseCidr, parseIp } from './ip-number.ts'

describe('addresses as numbers', () => {
  for (const [text, expected] of [
    ['10.0.0.1', '10.0.0.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['::', '::'],
    ['::1', '::1'],
    ['fd00:0:0:1::', 'fd00:0:0:1::'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
    ['fd00::10', 'fd00::10'],
    ['0:1::', '0:1::'],
    ['::ffff:10.1.2.3', '::ffff:a01:203'],
    ['10:0:0:100::', '10:0:0:100::'],
  ] as const) {
    test(`${text} is written as ${expected}`, () => {
      assert.equal(normalizeIp(text), expected)
    })
  }

  for (const text of [
    '',
    '10.0.0',
    '10.0.0.256',
    'fe80::1%eth0',
    'web',
    '1::2::3',
    '1:2:3:4:5:6:7::8',
    '01.2.3.4',
    '1:2',
    ':1',
    '::g',
    '::1.2.3.400',
    '1:2:3:4:5:6:7:8:9',
  ]) {
    test(`"${text}" is none`, () => assert.equal(parseIp(text), undefined))
  }

  test('a range begins at the base of its network', () => {
    assert.deepEqual(parseCidr('10.96.3.4/12'), { base: parseIp('10.96.0.0'), bits: 20 })
    assert.deepEqual(parseCidr('fd00::5/112'), { base: parseIp('fd00::'), bits: 16 })
    for (const text of ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/8/8', 'x/8'])
      assert.equal(parseCidr(text), undefined)
  })
})
