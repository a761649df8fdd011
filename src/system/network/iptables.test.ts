import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseForwardTables } from './iptables.ts'

test('tables that drop what is forwarded are found, and no others', () => {
  const table = (name: string, forward: string) =>
    [`*${name}`, ':INPUT DROP [0:0]', `:FORWARD ${forward} [12:345]`, ':OUTPUT ACCEPT [0:0]', 'COMMIT', ''].join('\n')
  assert.deepEqual(parseForwardTables(`# Generated\n${table('mangle', 'ACCEPT')}${table('filter', 'DROP')}`), [
    'filter',
  ])
  assert.deepEqual(parseForwardTables(`${table('filter', 'ACCEPT')}*nat\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n`), [])
  assert.deepEqual(parseForwardTables(table('mangle', 'DROP')), ['mangle'])
})
