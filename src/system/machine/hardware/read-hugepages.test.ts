import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { readHugepages } from './read-hugepages.ts'

test('readHugepages() counts the pages of each size, the smallest first', () => {
  const folder = makeTemporaryFolder()
  for (const [name, count] of Object.entries({
    'hugepages-1048576kB': '0\n',
    'hugepages-2048kB': '16\n',
    other: '3',
  })) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'nr_hugepages'), count)
  }
  mkdirSync(join(folder, 'hugepages-64kB'))
  assert.deepEqual(readHugepages(folder), [
    { sizeBytes: 65_536n, count: 0n },
    { sizeBytes: 2_097_152n, count: 16n },
    { sizeBytes: 1_073_741_824n, count: 0n },
  ])
})

test('readHugepages() finds none on a kernel without them', () => {
  assert.deepEqual(readHugepages('/nowhere'), [])
})
