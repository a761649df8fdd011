import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeRestartCount } from './compute-restart-count.ts'

test('computeRestartCount() goes on from the runtime, else from the log files or from before the pod came back', () => {
  const rows = [
    [undefined, [], 0],
    [{ restartCount: 4 }, [], 5],
    [{ restartCount: 4 }, ['9.log'], 5],
    [undefined, ['0.log'], 1],
    [undefined, ['2.log', '10.log', '9.log'], 11],
    [undefined, ['3.log.20260102-030405.gz', '2.log'], 4],
    [undefined, ['3.log.20260102-030405'], 4],
    [undefined, ['x.log', '7.txt', '8.logs', 'a9.log', 'log'], 0],
    [undefined, [], 3, 2],
    [undefined, ['5.log'], 6, 2],
    [{ restartCount: 4 }, [], 5, 7],
  ] as const
  for (const [newest, files, expected, before] of rows)
    assert.equal(computeRestartCount(newest, files, before), expected)
})
