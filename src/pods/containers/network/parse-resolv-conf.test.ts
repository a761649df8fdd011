import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mergeResolverOptions, parseResolvConf } from './parse-resolv-conf.ts'

describe('parseResolvConf()', () => {
  const rows = [
    { name: 'empty file', text: '', expected: { servers: [], searches: [], options: [] } },
    {
      name: 'servers add up, comments and other lines are skipped',
      text: '# nameserver 9.9.9.9\n  nameserver 1.1.1.1 # one\n#nameserver 8.8.8.8\nnameserver\t::1\nsortlist 10.0.0.0\n\n',
      expected: { servers: ['1.1.1.1', '::1'], searches: [], options: [] },
    },
    {
      name: 'the last search line wins, the root is dropped and trailing dots go',
      text: 'search a.test b.test\nsearch c.test. . d.test\n',
      expected: { servers: [], searches: ['c.test', 'd.test'], options: [] },
    },
    {
      name: 'an empty search line clears',
      text: 'search a.test\nsearch',
      expected: { servers: [], searches: [], options: [] },
    },
    {
      name: 'options add up, the later of one name wins',
      text: 'options ndots:2 rotate\noptions timeout:1 ndots:7\n',
      expected: { servers: [], searches: [], options: ['ndots:7', 'rotate', 'timeout:1'] },
    },
  ] as const
  for (const { name, text, expected } of rows) {
    test(name, () => assert.deepEqual(parseResolvConf(text), expected))
  }

  test('rejects a nameserver without an address', () => {
    assert.throws(
      () => parseResolvConf('search a.test\nnameserver \n'),
      new Error('nameserver list is empty in line 2'),
    )
  })
})

test('mergeResolverOptions() keeps the place of the first and the value of the last', () => {
  assert.deepEqual(mergeResolverOptions(['ndots:5', 'rotate'], ['timeout:1', 'ndots:2']), [
    'ndots:2',
    'rotate',
    'timeout:1',
  ])
})
