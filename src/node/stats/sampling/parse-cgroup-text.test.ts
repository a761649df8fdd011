import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseBlkio, parseFlat, parseIoStat, parseLimit, parseNumber, parsePressure } from './parse-cgroup-text.ts'

describe('parseNumber() and parseLimit()', () => {
  for (const [text, number, limit] of [
    ['0\n', 0, 0],
    ['134217728\n', 134_217_728, 134_217_728],
    ['9223372036854771712\n', 9_223_372_036_854_771_712, undefined],
    ['max\n', undefined, undefined],
    ['-1\n', -1, -1],
    ['', undefined, undefined],
    [undefined, undefined, undefined],
  ] as const)
    test(`read ${JSON.stringify(text)}`, () => {
      assert.deepEqual([parseNumber(text), parseLimit(text)], [number, limit])
    })
})

test('parseFlat() reads names and values; what is not there is 0', () => {
  const value = parseFlat('anon 4096\ntotal_file 7\nfile 0\nfile_mapped 5')
  const names = ['anon', 'file', 'total_file', 'file_mapped', 'mapped', 'shmem']
  assert.deepEqual(names.map(value), [4096, 0, 7, 5, 0, 0])
  assert.equal(parseFlat(undefined)('anon'), 0)
})

test('parsePressure() reads both lines, and knows kernels that have one or none', () => {
  const some = { avg10: 47.29, avg60: 10.27, avg300: 2.21, total: 6_073_169 }
  const none = { avg10: 0, avg60: 0, avg300: 0, total: 0 }
  const line = 'some avg10=47.29 avg60=10.27 avg300=2.21 total=6073169\n'
  assert.deepEqual(parsePressure(`${line}full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n`), {
    some,
    full: { ...none, total: 7 },
  })
  assert.deepEqual(
    [parsePressure(line), parsePressure(''), parsePressure(undefined)],
    [{ some, full: none }, undefined, undefined],
  )
})

test('parseIoStat() leaves out disks that were never used', () => {
  assert.deepEqual(parseIoStat('7:1 \n7:0 rbytes=2048 wbytes=8388608 rios=2 wios=8 dbytes=0 dios=0\n'), [
    {
      device: '7:0',
      bytes: { Read: 2048, Write: 8_388_608 },
      operations: { Read: 2, Write: 8 },
      cost: undefined,
    },
  ])
  const [{ cost } = {}] = parseIoStat('7:0 rbytes=1 cost.usage=5 cost.wait=6 cost.indebt=7 cost.indelay=8\n')
  assert.deepEqual(cost, { usage: 5, wait: 6, indebt: 7, indelay: 8 })
})

test('parseBlkio() puts bytes and operations together', () => {
  const bytes = '8:0 Read 4096\n8:0 Write 8192\n8:0 Sync 1\n8:0 Total 12288\nTotal 12288\n'
  assert.deepEqual(parseBlkio(bytes, '8:0 Read 1\n8:0 Write 2\n253:0 Read 3\nTotal 6\n'), [
    {
      device: '8:0',
      bytes: { Read: 4096, Write: 8192, Sync: 1, Total: 12_288 },
      operations: { Read: 1, Write: 2 },
      cost: undefined,
    },
    { device: '253:0', bytes: {}, operations: { Read: 3 }, cost: undefined },
  ])
  assert.deepEqual(parseBlkio(undefined, 'Total 0\n'), [])
})
