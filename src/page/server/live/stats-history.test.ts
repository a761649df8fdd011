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

test('begins with what the agent has measured, and goes on with what came after that', () => {
  const history = new StatsHistory()
  history.add({ node: { at: 5000, cpu: 9 }, pods: {} })
  history.add({ node: { at: 50_000, cpu: 4 }, pods: { a: [3, 30] } })
  history.prepend({
    times: [10_000, 30_000],
    node: { cpuCores: [1, null], memoryBytes: [7, 8] },
    pods: { a: { cpuCores: [null, 2], memoryBytes: [10, 20] }, b: { cpuCores: [1, null], memoryBytes: [1, null] } },
  })
  assert.deepEqual(
    history.node.map(({ at, cpu, memory }) => [at, cpu, memory]),
    [
      [10_000, 1, 7],
      [30_000, undefined, 8],
      [50_000, 4, undefined],
    ],
  )
  assert.deepEqual(history.ofPod('a'), { times: [10_000, 30_000, 50_000], cpu: [null, 2, 3], memory: [10, 20, 30] })
  assert.deepEqual(history.ofPod('b').times, [10_000])
  assert.deepEqual(history.pods, {
    a: [
      [null, 10],
      [2, 20],
      [3, 30],
    ],
  })
})
