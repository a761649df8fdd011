import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isRunning, parseProcessStat, readProcessIdentity, readProcessStat } from './process-identity.ts'

describe('parseProcessStat()', () => {
  test('finds the fields behind a name with spaces and parentheses', () => {
    const text =
      '77 (a) b) (c) S 1 77 77 0 -1 4194560 100 200 0 0 11 22 33 44 20 0 1 0 5150 1000 200 18446744073709551615 1 1\n'
    assert.deepEqual(parseProcessStat(text), { state: 'S', parentPid: 1, cpuTicks: 110, startTicks: 5150 })
  })

  test('refuses what is cut off', () => {
    assert.throws(() => parseProcessStat('77 (sh) S 1 77'), /Cannot read .* too short/)
  })
})

describe('readProcessIdentity()', () => {
  test('knows this process and no other', async () => {
    const identity = await readProcessIdentity(process.pid)
    assert.equal(identity?.pid, process.pid)
    assert.equal(await isRunning(identity), true)
    assert.equal(await isRunning({ ...identity, startTicks: identity.startTicks + 1 }), false)
  })

  test('finds nothing where there is no process', async () => {
    // Beyond the largest pid that the kernel gives.
    assert.equal(await readProcessIdentity(2 ** 22 + 1), undefined)
    assert.equal(await readProcessStat(2 ** 22 + 1), undefined)
  })
})
