import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDiskStats } from './parse-disk-stats.ts'

test('parseDiskStats() reads a line of each disk, with times in seconds', () => {
  const text = ` 253       0 vda 11 12 13 14000 15 16 17 18000 19 20000 21000 22 23 24 25 26 27
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0
`
  const disks = parseDiskStats(text)
  assert.deepEqual(disks.get('253:0'), {
    name: 'vda',
    reads: 11,
    readsMerged: 12,
    sectorsRead: 13,
    readSeconds: 14,
    writes: 15,
    writesMerged: 16,
    sectorsWritten: 17,
    writeSeconds: 18,
    inProgress: 19,
    busySeconds: 20,
    weightedBusySeconds: 21,
  })
  assert.equal(disks.get('7:0')?.name, 'loop0')
  assert.equal(parseDiskStats(undefined).size, 0)
})
