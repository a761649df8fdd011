import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OpenFiles } from '../../../system/directories/count-open-files.ts'
import { DescriptorBudget, parseOpenFilesLimit, readProcesses } from './read-processes.ts'

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max processes             unlimited            unlimited            processes
Max open files            1024                 524288               files
`

/** Processes with so many descriptors each, of which one in ten is a socket; a count of which no more than `most` are looked at. */
function createFiles(counts: ReadonlyMap<number, number>) {
  const looked: (readonly [pid: number, most: number])[] = []
  return {
    looked,
    openFiles: async (pid: number, most: number): Promise<OpenFiles | undefined> => {
      looked.push([pid, most])
      const files = counts.get(pid)
      if (files === undefined) return undefined
      return { files, sockets: files > most ? undefined : Math.floor(files / 10) }
    },
    kernelFile: (path: string) => (path === '/proc/7/limits' ? LIMITS : undefined),
  }
}

describe('readProcesses()', () => {
  test('adds up what the processes have open, without those that are gone', async () => {
    const files = createFiles(
      new Map([
        [7, 20],
        [9, 30],
      ]),
    )
    const request = { pids: [7, 8, 9], first: 7, budget: new DescriptorBudget() }
    assert.deepEqual(await readProcesses(files, request), {
      processes: 3,
      descriptors: 50,
      sockets: 5,
      openFilesLimit: 1024,
    })
  })

  test('looks at a bounded number of descriptors of a cgroup, and knows how many there are', async () => {
    const files = createFiles(
      new Map([
        [1, 3990],
        [2, 20],
        [3, 5],
      ]),
    )
    const request = { pids: [1, 2, 3], first: undefined, budget: new DescriptorBudget() }
    const { descriptors, sockets, openFilesLimit } = await readProcesses(files, request)
    assert.deepEqual([descriptors, sockets, openFilesLimit], [4015, undefined, undefined])
    assert.deepEqual(files.looked, [
      [1, 4000],
      [2, 10],
      [3, 0],
    ])
  })

  test('looks at a bounded number of descriptors in all', async () => {
    const files = createFiles(new Map([[1, 4000]]))
    const budget = new DescriptorBudget()
    const counted: (number | undefined)[] = []
    for (let cgroup = 0; cgroup < 12; cgroup++)
      counted.push((await readProcesses(files, { pids: [1], first: undefined, budget })).sockets)
    assert.deepEqual(counted, [...Array.from({ length: 10 }, () => 400), undefined, undefined])
  })
})

test('parseOpenFilesLimit() reads the soft limit', () => {
  assert.deepEqual(
    [LIMITS, LIMITS.replace('1024', 'unlimited'), '', undefined].map((text) => parseOpenFilesLimit(text)),
    [1024, -1, undefined, undefined],
  )
})
