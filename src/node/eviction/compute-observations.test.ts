import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createStatsSnapshot } from '../../../test/builders/create-stats-snapshot.ts'
import type { NodeUse } from '../../../test/builders/create-stats-snapshot.ts'
import { formatQuantity } from '../../model/resources/quantity.ts'
import { computeObservations } from './compute-observations.ts'

function show(use: NodeUse): Readonly<Record<string, string>> {
  const observations = computeObservations(createStatsSnapshot(use).node)
  return Object.fromEntries(
    [...observations].map(([signal, { available, capacity }]) => [
      signal,
      `${formatQuantity(available)} of ${formatQuantity(capacity)}`,
    ]),
  )
}

describe('computeObservations()', () => {
  test('says what is left of everything', () => {
    assert.deepEqual(show({ memoryLeft: 90, podsMemory: { used: 100, limit: 700 }, images: { left: 7 } }), {
      'memory.available': '90Mi of 1000Mi',
      'allocatableMemory.available': '600Mi of 700Mi',
      'nodefs.available': '500Mi of 1000Mi',
      'nodefs.inodesFree': '500 of 1k',
      'imagefs.available': '7Mi of 1000Mi',
      'imagefs.inodesFree': '500 of 1k',
      'pid.available': '500 of 1k',
    })
  })

  test('without a limit pods may have the whole machine', () => {
    assert.equal(show({ podsMemory: { used: 100 } })['allocatableMemory.available'], '900Mi of 1000Mi')
  })

  test('leaves out what is not counted', () => {
    const names = Object.keys(show({ images: undefined, processes: { limit: Infinity, count: 5 } }))
    assert.deepEqual(names, ['memory.available', 'nodefs.available', 'nodefs.inodesFree'])
    const { node } = createStatsSnapshot()
    const { root, fs } = node
    const silent = { ...node, root: { ...root, sample: { ...root.sample, memory: undefined } } }
    assert.equal(computeObservations(silent).has('memory.available'), false)
    const withoutInodes = { ...node, fs: { ...fs, inodes: 0, inodesFree: 0 } }
    assert.equal(computeObservations(withoutInodes).has('nodefs.inodesFree'), false)
  })

  test('never says less than nothing', () => {
    assert.equal(show({ memoryLeft: -5 })['memory.available'], '0 of 1000Mi')
  })
})
