import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatsHistory } from './stats-history.ts'

test('keeps an hour of the node and some points of the pods that are there', () => {
  const history = new StatsHistory()
  for (let index = 0; index < 400; index += 1) {
    const pods = { kept: [index, 1] as const, ...(index < 399 && { gone: [1, 1] as const }) }
    history.add({ node: { at: index * 10_000, cpu: index }, pods })
  }
  assert.equal(history.node.length, 360)
  assert.equal(history.node.at(0)?.cpu, 40)
  assert.deepEqual(Object.keys(history.pods), ['kept'])
  assert.deepEqual(history.pods['kept']?.at(-1), [399, 1])
  assert.equal(history.pods['kept']?.length, 30)
})
