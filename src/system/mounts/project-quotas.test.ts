import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseQuotaReport } from './project-quotas.ts'

describe('parseQuotaReport()', () => {
  test('reads what each project takes, in blocks of 1024 bytes', () => {
    const text = `#0                  14          0          0     00 [--------]          3          0          0     00 [--------]
#1048577          3073 1125899906842624 1125899906842624     00 [7 days]          2          0          0     00 [--------]

`
    assert.deepEqual(
      parseQuotaReport(text),
      new Map([
        [0, { bytes: 14_336, inodes: 3 }],
        [1_048_577, { bytes: 3_146_752, inodes: 2 }],
      ]),
    )
  })

  for (const text of ['', '\n', 'xfs_quota: something else'])
    test(`refuses ${JSON.stringify(text)}, which names no project`, () => {
      assert.throws(() => parseQuotaReport(text), /no project/)
    })
})
