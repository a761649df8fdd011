import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { createKnownInterfaces } from './known-interfaces.ts'

const GLOBAL = '20010db8000000000000000000000005 02 40 00 80     eth0\n'
const LINK_LOCAL = 'fe800000000000000000000000000005 02 40 20 80     veth1\n'

test('createKnownInterfaces() lists addresses again when one has changed, and not for the interface of a pod', () => {
  const files = new Map([
    ['/proc/net/route', 'eth0 00000000'],
    ['/proc/net/fib_trie', '192.0.2.5'],
    ['/proc/net/if_inet6', GLOBAL],
  ])
  let lists = 0
  const read = (path: string) => files.get(path) ?? ''
  const interfaces = createKnownInterfaces({ read, list: () => ({ eth0: [String((lists += 1))] }) })
  const changes: readonly (readonly [path: string, text: string, lists: number])[] = [
    ['/proc/net/if_inet6', GLOBAL, 1],
    ['/proc/net/if_inet6', GLOBAL + LINK_LOCAL, 1],
    ['/proc/net/if_inet6', LINK_LOCAL, 2],
    ['/proc/net/fib_trie', '192.0.2.6', 3],
    ['/proc/net/route', 'eth1 00000000', 4],
    ['/proc/net/route', 'eth1 00000000', 4],
    // Where the kernel does not say, each time.
    ['/proc/net/fib_trie', '', 5],
    ['/proc/net/fib_trie', '', 6],
  ]
  for (const [path, text, expected] of changes) {
    files.set(path, text)
    assert.deepEqual(interfaces(), { eth0: [String(expected)] }, `${path}: ${text}`)
  }
})

test('createKnownInterfaces() has the addresses of this machine', () => {
  const names = Object.keys(networkInterfaces())
  assert.deepEqual(Object.keys(createKnownInterfaces()()), names)
})
