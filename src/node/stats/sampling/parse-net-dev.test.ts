import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNetDev } from './parse-net-dev.ts'

test('parseNetDev() reads what leaves the machine, and not the ends of pods', () => {
  const text = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0
  eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0
vethab: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0
docker0:1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0
eth0:1: 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
`
  const rest = { rxPackets: 2, rxErrors: 3, rxDropped: 4, txBytes: 5, txPackets: 6, txErrors: 7, txDropped: 8 }
  assert.deepEqual(parseNetDev(text)[0], { name: 'eth0', rxBytes: 1, ...rest })
  assert.deepEqual(
    parseNetDev(text).map(({ name }) => name),
    ['eth0', 'eth0:1'],
  )
  assert.deepEqual(parseNetDev(''), [])
})
