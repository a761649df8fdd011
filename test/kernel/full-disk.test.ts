import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import type { Clock } from '../../src/base/async/clock.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import { ExitJournal } from '../../src/pods/sync/report/exit-journal.ts'
import { createLastGoodManifests } from '../../src/system/directories/last-good-manifests.ts'
import { createPodFiles } from '../../src/system/directories/pod-files.ts'
import { createUserNamespaceRecords } from '../../src/system/directories/user-namespace-records.ts'
import { createStateFile } from '../../src/system/files/state/create-state-file.ts'
import { createRecordFolder } from '../../src/system/files/state/create-record-folder.ts'
import { runProcessOrThrow } from '../../src/system/processes/run-process.ts'
import { inMountNamespace } from './in-mount-namespace.ts'

const never = new AbortController().signal
const UID = parsePodUid('u-1')
const FULL = { code: 'ENOSPC' }

/** A disk of 64 kB, with a file that can fill it. */
async function makeDisk(t: TestContext) {
  const disk = await mkdtemp(join(tmpdir(), 'deckhand-disk-'))
  const run = (...argv: readonly string[]) => runProcessOrThrow(systemClock, { argv, deadlineMs: 10_000 }, never)
  await run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', disk)
  t.after(async () => {
    await run('umount', disk)
    await rm(disk, { recursive: true })
  })
  const ballast = join(disk, 'ballast')
  return {
    disk,
    fill: async () => await assert.rejects(writeFile(ballast, Buffer.alloc(128 * 1024)), FULL),
    free: async () => await rm(ballast),
    names: async (folder: string) => (await readdir(join(disk, folder))).toSorted(),
  }
}

/** Something that keeps texts on the disk. */
interface Keeper {
  readonly name: string
  /** Where its files are. */
  readonly folder: string
  open(disk: string): { write(text: string): Promise<unknown>; read(): Promise<string | undefined> }
}

const keepers: readonly Keeper[] = [
  {
    name: 'a state file',
    folder: '',
    open: (disk) => createStateFile(join(disk, 'cpu_manager_state'), systemClock),
  },
  {
    name: 'a record',
    folder: 'records',
    open(disk) {
      const records = createRecordFolder(join(disk, 'records'))
      return { write: (text) => records.write('a', text), read: () => records.read('a') }
    },
  },
  {
    name: 'the copy of a manifest',
    folder: 'last-good-manifests',
    open(disk) {
      const copies = createLastGoodManifests(join(disk, 'last-good-manifests'))
      return {
        write: (text) => copies.write('web.yaml', Buffer.from(text)),
        read: async () => Buffer.from((await copies.read('web.yaml')) ?? []).toString(),
      }
    },
  },
  ...(['probeNotes', 'terminationNotes'] as const).map((kind) => ({
    name: `a note of a pod (${kind})`,
    folder: `pods/${UID}`,
    open(disk: string) {
      const notes = createPodFiles({ rootDirectory: disk })[kind]
      return { write: (text: string) => notes.write(UID, text), read: () => notes.read(UID) }
    },
  })),
  {
    name: 'the ids of a user namespace',
    folder: `pods/${UID}`,
    open(disk) {
      const records = createUserNamespaceRecords(disk)
      return {
        write: (text) => records.write(UID, text),
        read: async () => await readFile(join(disk, 'pods', UID, 'userns'), 'utf8'),
      }
    },
  },
]

inMountNamespace(import.meta.filename, () => {
  describe('on a full disk', () => {
    for (const { name, folder, ...keeper } of keepers) {
      test(`${name} keeps its content, leaves nothing else behind, and is written when there is room`, async (t) => {
        const { disk, fill, free, names } = await makeDisk(t)
        await mkdir(join(disk, 'pods', UID), { recursive: true })
        const file = keeper.open(disk)
        await file.write('old')
        await fill()
        const before = await names(folder)
        await assert.rejects(file.write('new '.repeat(2000)), FULL)
        assert.equal(await file.read(), 'old')
        assert.deepEqual(await names(folder), before)
        await free()
        await file.write('new')
        assert.equal(await file.read(), 'new')
      })
    }

    test('the end of a pod is known at once, and noted when there is room', async (t) => {
      const { disk, fill, free, names } = await makeDisk(t)
      const files = createRecordFolder(join(disk, 'finished-pods'))
      const journal = await ExitJournal.load({ files, log: silentLogger })
      const stop = new AbortController()
      // Impatient: ten seconds are one millisecond.
      const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 10_000, signal) }
      const running = journal.run(clock, stop.signal)
      running.catch(() => {})
      await fill()
      const status = { phase: 'Succeeded' } as const
      await journal.record(UID, status)
      assert.deepEqual(journal.get(UID), status)
      assert.deepEqual(await names('finished-pods'), [])
      await free()
      while ((await names('finished-pods')).join() !== `${UID}.json`) await systemClock.sleep(5, never)
      assert.deepEqual((await ExitJournal.load({ files, log: silentLogger })).get(UID), status)
      stop.abort(new Error('enough'))
      await assert.rejects(running, /enough/)
    })
  })
})
