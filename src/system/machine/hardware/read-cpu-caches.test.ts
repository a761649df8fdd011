import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readCpuCaches } from './read-cpu-caches.ts'
import { readCpuPlaces } from './read-cpu-places.ts'

const place = (cpu: number, core: number, numaNode: number) => ({ cpu, core, numaNode, uncoreCache: 0, socket: 0 })

test('readCpuCaches() gives caches of a core to it, and shared ones to its NUMA node', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-caches-'))
  t.after(() => rm(root, { recursive: true }))
  const write = async (cpu: number, index: number, [level, type, size, shared]: readonly string[]) => {
    const folder = `${root}/cpu/cpu${cpu}/cache/index${index}`
    await mkdir(folder, { recursive: true })
    for (const [file, text] of Object.entries({ level, type, size, shared_cpu_list: shared }))
      await writeFile(`${folder}/${file}`, `${text}\n`)
  }
  for (const [cpu, own, all] of [
    [0, '0,2', '0-3'],
    [1, '1,3', '0-3'],
    [4, '4', '4'],
  ] as const) {
    await write(cpu, 0, ['1', 'Data', '32K', own])
    await write(cpu, 3, ['3', 'Unified', '8192K', all])
  }
  const places = [place(0, 0, 0), place(1, 1, 0), place(2, 0, 0), place(3, 1, 0), place(4, 4, 1)]
  assert.deepEqual(readCpuCaches(places, root), [
    { numaNode: 0, core: 0, level: 1, type: 'Data', sizeBytes: 32_768 },
    { numaNode: 0, core: undefined, level: 3, type: 'Unified', sizeBytes: 8_388_608 },
    { numaNode: 0, core: 1, level: 1, type: 'Data', sizeBytes: 32_768 },
    { numaNode: 1, core: 4, level: 1, type: 'Data', sizeBytes: 32_768 },
    { numaNode: 1, core: 4, level: 3, type: 'Unified', sizeBytes: 8_388_608 },
  ])
})

test('readCpuCaches() reads those of this machine, as far as the kernel lists them', () => {
  for (const { sizeBytes, level } of readCpuCaches(readCpuPlaces())) assert.ok(sizeBytes > 0 && level > 0)
  assert.deepEqual(readCpuCaches([place(0, 0, 0)], '/nowhere'), [])
})
