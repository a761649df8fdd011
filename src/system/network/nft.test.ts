import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseForwardDrops } from './nft.ts'

test('chains that drop what is forwarded are found, in any table', () => {
  const chain = (fields: object) => ({ chain: { family: 'ip', table: 'filter', handle: 1, ...fields } })
  const listed = [
    { metainfo: { version: '1.0.6' } },
    chain({ name: 'FORWARD', type: 'filter', hook: 'forward', prio: 0, policy: 'drop' }),
    chain({ name: 'INPUT', type: 'filter', hook: 'input', prio: 0, policy: 'drop' }),
    chain({ family: 'inet', table: 'own', name: 'fwd', type: 'filter', hook: 'forward', prio: 0, policy: 'accept' }),
    chain({ family: 'inet', table: 'firewalld', name: 'filter_FORWARD', hook: 'forward', prio: 10, policy: 'drop' }),
    chain({ name: 'DOCKER' }),
  ]
  assert.deepEqual(parseForwardDrops(JSON.stringify({ nftables: listed })), [
    'ip filter FORWARD',
    'inet firewalld filter_FORWARD',
  ])
})
