import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import { computeRaisedAmounts } from './compute-raised-amounts.ts'

test('computeRaisedAmounts() never has less than was given away', () => {
  const amounts = parseAmounts({ cpu: '4', 'example.com/gpu': '0', 'example.com/nic': '8' })
  const taken = new Map([
    ['example.com/gpu', 2],
    ['example.com/nic', 3],
    ['example.com/fpga', 1],
  ])
  assert.deepEqual(
    computeRaisedAmounts(amounts, taken),
    parseAmounts({ cpu: '4', 'example.com/gpu': '2', 'example.com/nic': '8', 'example.com/fpga': '1' }),
  )
})
