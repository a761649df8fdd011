import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toWantedNames } from './to-wanted-names.ts'

test('toWantedNames() takes names and addresses of a node, each once and sorted', () => {
  const address = (type: string, address: string) => ({ type, address })
  assert.deepEqual(
    toWantedNames([
      address('Hostname', 'Node-1'),
      address('InternalIP', '192.0.2.7'),
      address('InternalIP', '2001:DB8:0:0:0:0:0:1'),
      address('ExternalIP', '192.0.2.7'),
      address('ExternalIP', 'not-an-address'),
      address('InternalDNS', 'node-1'),
      address('ExternalDNS', 'a.example'),
      address('ExternalDNS', ''),
    ]),
    { dnsNames: ['a.example', 'node-1'], addresses: ['192.0.2.7', '2001:db8::1'] },
  )
  // A node may be called by its address.
  assert.deepEqual(toWantedNames([address('Hostname', '192.0.2.1')]), { dnsNames: [], addresses: ['192.0.2.1'] })
  assert.deepEqual(toWantedNames([]), { dnsNames: [], addresses: [] })
})
