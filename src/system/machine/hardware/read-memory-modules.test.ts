import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readMemoryModules } from './read-memory-modules.ts'

test('readMemoryModules() adds up modules of the same type', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-modules-'))
  t.after(() => rm(root, { recursive: true }))
  for (const [slot, type, size] of [
    ['mc0/dimm0', 'Unbuffered-DDR4', '789'],
    ['mc0/dimm1', 'Non-volatile-RAM', '100'],
    ['mc1/dimm0', 'Unbuffered-DDR4', '211'],
  ] as const) {
    await mkdir(`${root}/${slot}`, { recursive: true })
    await writeFile(`${root}/${slot}/dimm_mem_type`, `${type}\n`)
    await writeFile(`${root}/${slot}/size`, `${size}\n`)
  }
  await mkdir(`${root}/power`)
  const byType = readMemoryModules(root).toSorted((a, b) => (a.type < b.type ? -1 : 1))
  assert.deepEqual(byType, [
    { type: 'Non-volatile-RAM', count: 1, capacityBytes: 100 * 2 ** 20 },
    { type: 'Unbuffered-DDR4', count: 2, capacityBytes: 1000 * 2 ** 20 },
  ])
  assert.deepEqual(readMemoryModules(`${root}/none`), [])
})
