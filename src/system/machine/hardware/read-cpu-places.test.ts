import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { readCpuPlaces } from './read-cpu-places.ts'
import { readMachine } from '../read-machine.ts'

/** A tree as the kernel shows it. */
async function createDevices(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-cpus-'))
  t.after(() => rm(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(`${root}/${path}`), { recursive: true })
    await writeFile(`${root}/${path}`, `${text}\n`)
  }
  return root
}

const cpuFiles = (cpu: number, place: { socket: number; core: string; cache: string }) => ({
  [`cpu/cpu${cpu}/topology/physical_package_id`]: `${place.socket}`,
  [`cpu/cpu${cpu}/topology/core_cpus_list`]: place.core,
  [`cpu/cpu${cpu}/cache/index2/level`]: '2',
  [`cpu/cpu${cpu}/cache/index2/shared_cpu_list`]: place.core,
  [`cpu/cpu${cpu}/cache/index3/level`]: '3',
  [`cpu/cpu${cpu}/cache/index3/shared_cpu_list`]: place.cache,
})

describe('readCpuPlaces()', () => {
  test('reads sockets, NUMA nodes, caches and threads; what is offline counts for nothing', async (t) => {
    const devices = await createDevices(t, {
      'cpu/online': '1-7',
      'node/node0/cpulist': '0-1,4-5',
      'node/node1/cpulist': '2-3,6-7',
      'node/possible': '0-1',
      ...cpuFiles(1, { socket: 0, core: '1,5', cache: '0-1,4-5' }),
      ...cpuFiles(2, { socket: 1, core: '2,6', cache: '2,6' }),
      ...cpuFiles(3, { socket: 1, core: '3,7', cache: '3,7' }),
      ...cpuFiles(4, { socket: 0, core: '0,4', cache: '0-1,4-5' }),
      ...cpuFiles(5, { socket: 0, core: '1,5', cache: '0-1,4-5' }),
      ...cpuFiles(6, { socket: 1, core: '2,6', cache: '2,6' }),
      ...cpuFiles(7, { socket: 1, core: '3,7', cache: '3,7' }),
    })
    const rows = readCpuPlaces(devices).map((place) => Object.values(place).join(' '))
    // CPU, core, cache, NUMA node, socket.
    assert.deepEqual(rows, ['1 1 1 0 0', '2 2 2 1 1', '3 3 3 1 1', '4 4 1 0 0', '5 1 1 0 0', '6 2 2 1 1', '7 3 3 1 1'])
  })

  test('takes what is not reported for the simplest machine', async (t) => {
    const devices = await createDevices(t, {
      'cpu/online': '0-1',
      'cpu/cpu0/topology/physical_package_id': '-1',
      'cpu/cpu0/topology/thread_siblings_list': '0',
    })
    const simple = { uncoreCache: 0, numaNode: 0, socket: 0 }
    assert.deepEqual(readCpuPlaces(devices), [
      { cpu: 0, core: 0, ...simple },
      { cpu: 1, core: 1, ...simple },
    ])
  })

  test('reads this machine', () => {
    assert.deepEqual(
      readCpuPlaces().map(({ cpu }) => cpu),
      readMachine().onlineCpus,
    )
  })
})
