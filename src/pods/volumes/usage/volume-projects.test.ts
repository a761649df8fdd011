import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import type { TreeUsage } from '../../../system/files/file-usage.ts'
import { VolumeProjects } from './volume-projects.ts'

const { signal } = new AbortController()
const FIRST = 1_048_577

/** A file system, its records, and what was asked of it. */
function createDisk() {
  const clock = new FakeClock(0)
  const directories = new Set<string>()
  const records = new Map<string, string>()
  const journal: string[] = []
  const warnings: string[] = []
  const usages = new Map<number, TreeUsage>([[0, { bytes: 1, inodes: 1 }]])
  const disk = { counts: true, foreign: new Set<number>(), failing: '' }
  const note = (line: string) => {
    journal.push(line)
    if (disk.failing !== '' && line.startsWith(disk.failing)) throw new Error('no')
  }
  const load = () =>
    VolumeProjects.load({
      quotas: {
        pointOf: async () => '/disk',
        counts: async () => {
          note('state')
          return disk.counts
        },
        foreignIds: async () => disk.foreign,
        assign: async (directory, id) => {
          note(`assign ${directory} ${id - FIRST}`)
          usages.set(id, { bytes: 0, inodes: 1 })
        },
        report: async () => {
          note('report')
          return new Map(usages)
        },
      },
      records: {
        names: async () => [...records.keys()],
        read: async (name) => records.get(name),
        write: async (name, text) => void records.set(name, text),
        remove: async (name) => void records.delete(name),
      },
      isDirectory: async (path) => directories.has(path),
      clock,
      log: { ...silentLogger, warn: (message) => void warnings.push(message) },
    })
  const take = () => journal.splice(0)
  return { clock, directories, records, warnings, usages, disk, load, take }
}

describe('VolumeProjects', () => {
  test('gives each directory a project of its own, and reads all with one question', async () => {
    const { clock, usages, load, take } = createDisk()
    const projects = await load()
    await Promise.all(['/a', '/b'].map((directory) => projects.assign(directory, signal)))
    await projects.assign('/a', signal)
    assert.deepEqual(take(), ['state', 'report', 'assign /a 0', 'assign /b 1'])
    usages.set(FIRST, { bytes: 50, inodes: 5 })
    await clock.advance(60_000)
    const all = await Promise.all(['/a', '/b', '/c'].map((directory) => projects.usageOf(directory, signal)))
    assert.deepEqual(all, [{ bytes: 50, inodes: 5 }, { bytes: 0, inodes: 1 }, undefined])
    assert.deepEqual(take(), ['report'])
  })

  test('takes no number that others have or that something is left under', async () => {
    const { disk, usages, load, take } = createDisk()
    disk.foreign.add(FIRST)
    usages.set(FIRST + 1, { bytes: 4096, inodes: 1 })
    const projects = await load()
    await projects.assign('/a', signal)
    assert.deepEqual(take(), ['state', 'report', 'assign /a 2'])
  })

  test('gives the number of a directory that is gone to another', async () => {
    const { usages, records, clock, load, take } = createDisk()
    const projects = await load()
    await projects.assign('/a', signal)
    await projects.release('/a')
    usages.delete(FIRST)
    assert.deepEqual([records.size, projects.has('/a'), await projects.usageOf('/a', signal)], [0, false, undefined])
    await clock.advance(60_000)
    await projects.assign('/b', signal)
    assert.deepEqual(take(), ['state', 'report', 'assign /a 0', 'report', 'assign /b 0'])
  })

  test('knows after a restart what was given away, and forgets what is gone', async () => {
    const { directories, records, load, take } = createDisk()
    const before = await load()
    for (const directory of ['/a', '/b']) await before.assign(directory, signal)
    directories.add('/b')
    records.set('junk', '')
    const after = await load()
    assert.deepEqual([after.has('/a'), after.has('/b'), [...records]], [false, true, [[String(FIRST + 1), '/b']]])
    take()
    await after.assign('/b', signal)
    assert.deepEqual(take(), [])
  })

  for (const [what, failing, expected] of [
    ['that counts for nobody', '', ['state']],
    ['that cannot be asked', 'state', ['state', 'state']],
    ['that refuses', 'assign', ['state', 'report', 'assign /a 0', 'assign /b 0']],
  ] as const)
    test(`has no project on a file system ${what}, and says so once`, async () => {
      const { disk, records, warnings, load, take } = createDisk()
      disk.failing = failing
      disk.counts = failing !== ''
      const projects = await load()
      for (const directory of ['/a', '/b']) await projects.assign(directory, signal)
      assert.deepEqual(take(), expected)
      assert.deepEqual([records.size, warnings.length, projects.has('/a')], [0, 1, false])
    })

  test('leaves the walk to others while nothing can be read', async () => {
    const { disk, clock, warnings, load } = createDisk()
    const projects = await load()
    await projects.assign('/a', signal)
    await clock.advance(60_000)
    disk.failing = 'report'
    assert.deepEqual(
      [await projects.usageOf('/a', signal), await projects.usageOf('/a', signal)],
      [undefined, undefined],
    )
    assert.equal(warnings.length, 1)
  })

  test('gives up when it is aborted', async () => {
    const { load, disk } = createDisk()
    disk.failing = 'state'
    const projects = await load()
    await assert.rejects(projects.assign('/a', AbortSignal.abort(new Error('leave'))), /leave/)
  })
})
