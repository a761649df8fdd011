import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatQuantity } from '../../model/resources/quantity.ts'
import { parseThresholds } from './parse-thresholds.ts'
import type { ThresholdFields } from './parse-thresholds.ts'
import type { ThresholdValue } from './threshold.ts'

const NOTHING: ThresholdFields = {
  evictionHard: {},
  evictionSoft: {},
  evictionSoftGracePeriod: {},
  evictionMinimumReclaim: {},
  enforceNodeAllocatable: [],
}

function show(value: ThresholdValue | undefined): string {
  if (value === undefined) return '-'
  return value.kind === 'amount' ? formatQuantity(value.quantity) : `${Math.round(value.share * 1e6) / 1e4}%`
}

function parse(fields: Partial<ThresholdFields>) {
  return parseThresholds({ ...NOTHING, ...fields }).thresholds.map(
    ({ signal, value, minReclaim, graceMs }) => `${signal} ${show(value)} ${show(minReclaim)} ${graceMs}`,
  )
}

describe('parseThresholds()', () => {
  const rows: readonly [string, Partial<ThresholdFields>, readonly string[]][] = [
    ['none', {}, []],
    ['an amount', { evictionHard: { 'memory.available': '200Mi' } }, ['memory.available 200Mi - 0']],
    ['a share', { evictionHard: { 'nodefs.inodesFree': '5.5%' } }, ['nodefs.inodesFree 5.5% - 0']],
    ['0% and 100% are none', { evictionHard: { 'nodefs.available': '0%', 'imagefs.available': '100%' } }, []],
    [
      'a soft one, with its grace',
      { evictionSoft: { 'pid.available': '10%' }, evictionSoftGracePeriod: { 'pid.available': '1m30s' } },
      ['pid.available 10% - 90000'],
    ],
    [
      'the same signal twice, and what is to be won back',
      {
        evictionHard: { 'nodefs.available': '1Gi' },
        evictionSoft: { 'nodefs.available': '2Gi' },
        evictionSoftGracePeriod: { 'nodefs.available': '1s' },
        evictionMinimumReclaim: { 'nodefs.available': '500Mi', 'imagefs.available': '1Gi' },
      },
      ['nodefs.available 1Gi 500Mi 0', 'nodefs.available 2Gi 500Mi 1000'],
    ],
    [
      'what all pods may have is watched like the machine; only hard thresholds count',
      {
        evictionHard: { 'memory.available': '100Mi', 'pid.available': '10' },
        evictionSoft: { 'memory.available': '300Mi' },
        evictionSoftGracePeriod: { 'memory.available': '1s' },
        enforceNodeAllocatable: ['pods'],
      },
      [
        'memory.available 100Mi - 0',
        'pid.available 10 - 0',
        'memory.available 300Mi - 1000',
        'allocatableMemory.available 100Mi - 0',
      ],
    ],
  ]
  for (const [name, fields, expected] of rows) test(name, () => assert.deepEqual(parse(fields), expected))

  test('names those that follow from others', () => {
    const evictionHard = { 'containerfs.available': '5%', 'nodefs.available': '5%' }
    const { thresholds, ignored } = parseThresholds({ ...NOTHING, evictionHard })
    assert.deepEqual([thresholds.length, ignored], [1, ['containerfs.available']])
  })
})
