import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { RecordFolder } from '../../system/files/state/create-record-folder.ts'
import { MovingRecords } from './moving-records.ts'

/** A disk with folders of records, and the file that remembers them. */
function makeDisk(remembered?: string) {
  const folders = new Map<string, Map<string, string>>()
  const unreadable = new Set<string>()
  const disk = { remembered, setAside: 0 }
  const failures: Error[] = []
  const open = (path: string): RecordFolder => ({
    names: async () => {
      if (unreadable.has(path)) throw new Error('unreadable')
      return [...(folders.get(path)?.keys() ?? [])]
    },
    read: async (name) => folders.get(path)?.get(name),
    write: async (name, text) => void folders.getOrInsertComputed(path, () => new Map()).set(name, text),
    remove: async (name) => void folders.get(path)?.delete(name),
  })
  const file = {
    path: '/folders',
    read: async () => {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      return disk.remembered
    },
    write: async (text: string) => void (disk.remembered = text),
    setAside: async () => {
      disk.setAside += 1
      disk.remembered = undefined
      return '/folders.broken'
    },
  }
  const start = (current: string) => new MovingRecords({ current, file, open, log: silentLogger })
  return { disk, folders, unreadable, failures, start }
}

test('records of an earlier folder are listed, read and removed; new ones go to the folder of now', async () => {
  const { disk, folders, start } = makeDisk()
  await start('/a').write('one', '1')
  await start('/a').write('two', '2')
  assert.equal(disk.remembered, '["/a"]')
  const moved = start('/b')
  assert.deepEqual(
    [await moved.names(), await moved.read('one'), await moved.read('none')],
    [['one', 'two'], '1', undefined],
  )
  await moved.write('three', '3')
  assert.equal(disk.remembered, '["/b","/a"]')
  assert.deepEqual([...(folders.get('/b')?.keys() ?? [])], ['three'])
  await moved.remove('one')
  await moved.remove('two')
  assert.deepEqual(await moved.names(), ['three'])
  await start('/b').write('four', '4')
  assert.equal(disk.remembered, '["/b"]')
})

test('nothing is written while there are no records', async () => {
  const { disk, start } = makeDisk()
  assert.deepEqual(await start('/a').names(), [])
  assert.equal(disk.remembered, undefined)
})

test('an earlier folder that cannot be read is tried again by the next agent', async () => {
  const { disk, unreadable, start } = makeDisk('["/a"]')
  unreadable.add('/a')
  const moved = start('/b')
  await moved.write('one', '1')
  assert.deepEqual([await moved.names(), disk.remembered], [['one'], '["/b","/a"]'])
})

for (const broken of ['[', '{}', '["a"]', '[1]'])
  test(`a list of folders that is ${broken} is set aside`, async () => {
    const { disk, start } = makeDisk(broken)
    await start('/a').write('one', '1')
    assert.deepEqual(disk, { remembered: '["/a"]', setAside: 1 })
  })

test('a list of folders that cannot be read is set aside, unless that passes', async () => {
  for (const [code, setAside] of [
    ['EISDIR', 1],
    ['EMFILE', 0],
  ] as const) {
    const { disk, failures, start } = makeDisk('["/a"]')
    failures.push(Object.assign(new Error(code), { code }))
    const writing = start('/b').write('one', '1')
    if (setAside === 1) await writing
    else await assert.rejects(writing, { code })
    assert.deepEqual(disk, { remembered: setAside === 1 ? '["/b"]' : '["/a"]', setAside })
  }
})
