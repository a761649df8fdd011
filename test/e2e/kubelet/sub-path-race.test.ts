import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raceSubPaths } from '../support/sub-path-race.ts'
import { TestNode } from '../support/test-node.ts'

const STARTS = 500
const LONGEST_MS = 15_000

test('no container ever sees the outside of a volume, however fast a directory and a link change places', async (t) => {
  await using node = await TestNode.start()
  const { starts, refused, swaps, outside } = await raceSubPaths(node, { starts: STARTS, ms: LONGEST_MS })
  t.diagnostic(`${starts} starts and ${refused} refusals during ${swaps} swaps`)
  assert.deepEqual(outside, [])
  assert.ok(starts > 0 && refused > 0 && swaps > 0, 'nothing was tried')
})
