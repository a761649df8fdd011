import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKnownMountTable } from './known-mount-table.ts'
import { parseMountTable } from './mount-table.ts'

test('createKnownMountTable() reads the table once for each change, also while a reading is under way, and again after a failure', async () => {
  const readings: PromiseWithResolvers<string>[] = []
  let hasChanged = false
  const table = createKnownMountTable({
    async readTable() {
      const reading = Promise.withResolvers<string>()
      readings.push(reading)
      const point = await reading.promise
      return parseMountTable(`1 1 0:1 / ${point} rw - tmpfs tmpfs rw`)
    },
    hasChanged() {
      const was = hasChanged
      hasChanged = false
      return was
    },
  })
  const points = async (asked: ReturnType<typeof table>) => (await asked).map(({ point }) => point)
  const [first, second] = [table(), table()]
  readings[0]?.resolve('/a')
  assert.deepEqual([await points(first), await points(second), await points(table())], [['/a'], ['/a'], ['/a']])
  assert.equal(readings.length, 1)
  hasChanged = true
  const third = table()
  hasChanged = true
  const [fourth, fifth] = [table(), table()]
  readings[2]?.resolve('/c')
  readings[1]?.resolve('/b')
  assert.deepEqual([await points(third), await points(fourth), await points(fifth)], [['/b'], ['/c'], ['/c']])
  assert.deepEqual(await points(table()), ['/c'])
  assert.equal(readings.length, 3)
  hasChanged = true
  const failed = table()
  readings[3]?.reject(new Error('EMFILE'))
  await assert.rejects(failed, /EMFILE/)
  const again = table()
  readings[4]?.resolve('/d')
  assert.deepEqual(await points(again), ['/d'])
})
