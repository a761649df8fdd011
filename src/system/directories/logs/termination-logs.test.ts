import assert from 'node:assert/strict'
import { mkdir, open, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../base/async/clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { MOST_MESSAGE_BYTES, TerminationLogs } from './termination-logs.ts'

const MANY = Buffer.alloc(2 * MOST_MESSAGE_BYTES, 1)

/** A pod whose containers that run have their messages in these folders. */
const runningIn = (...folders: readonly string[]) => ({
  containers: [
    ...folders.map((each) => ({ state: 'running' as const, terminationLog: join(each, 'a1b2') })),
    { state: 'exited' as const, terminationLog: '/ended/a1b2' },
    { state: 'running' as const, terminationLog: '' },
  ],
})

describe('TerminationLogs', () => {
  let folder: string
  let file: string
  let logs: TerminationLogs
  let stop: AbortController
  let running: Promise<unknown>

  beforeEach(async () => {
    folder = join(makeTemporaryFolder(), 'main')
    file = join(folder, 'a1b2')
    await mkdir(folder)
    await writeFile(file, '')
    logs = new TerminationLogs({ clock: systemClock, log: silentLogger })
    stop = new AbortController()
    running = logs.run(stop.signal).catch(() => {})
  })
  afterEach(async () => {
    stop.abort(new Error('The test is over'))
    await running
    logs[Symbol.dispose]()
  })

  const isEmpty = async (path = file) => {
    for (let i = 0; i < 200; i += 1) {
      const { size } = await stat(path)
      if (size === 0) return true
      await sleep(10)
    }
    return false
  }
  const emptied = async () => {
    for (let i = 0; i < 200; i += 1) {
      const bytes = logs.takeEmptied('u', folder)
      if (bytes > 0) return bytes
      await sleep(10)
    }
    return 0
  }
  /** All at once: a file that is written in parts may be emptied in parts. */
  const writeAtOnce = async () => {
    const elsewhere = join(makeTemporaryFolder(), 'whole')
    await writeFile(elsewhere, MANY)
    await rename(elsewhere, file)
  }

  test('empties what a container writes beyond the bound, as often as it does, and remembers how much it was', async () => {
    logs.observe('u', runningIn(folder))
    await sleep(50)
    for (let i = 0; i < 3; i += 1) {
      await writeAtOnce()
      assert.ok((await emptied()) >= MANY.length)
      assert.ok(await isEmpty())
    }
    assert.equal(logs.takeEmptied('u', folder), 0)
  })

  test('finds what was written before it watched, and after a pause', async () => {
    await writeFile(file, MANY)
    logs.observe('u', runningIn(folder))
    assert.ok(await isEmpty())
    logs.observe('u', runningIn())
    await sleep(50)
    await writeFile(file, MANY)
    logs.observe('u', runningIn(folder))
    assert.ok(await isEmpty())
  })

  test('checks once more when the container has ended, and never again', async () => {
    logs.observe('u', runningIn(folder))
    await sleep(50)
    await writeFile(file, MANY)
    logs.observe('u', runningIn())
    assert.ok(await isEmpty())
    assert.ok((await emptied()) > 0)
    logs.observe('u', undefined)
    await sleep(50)
    await writeFile(file, MANY)
    await sleep(100)
    assert.equal((await stat(file)).size, MANY.length)
  })

  test('checks the file of each instance that runs, and none of those before it', async () => {
    const [earlier, later] = [join(folder, 'before'), join(folder, 'a2')]
    await writeFile(earlier, MANY)
    logs.observe('u', runningIn(folder))
    await sleep(50)
    const instances = [file, later].map((terminationLog) => ({ state: 'running' as const, terminationLog }))
    await writeFile(later, MANY)
    logs.observe('u', { containers: instances })
    assert.ok(await isEmpty(later))
    logs.observe('u', { containers: instances.slice(1) })
    await sleep(50)
    await writeFile(later, MANY)
    assert.ok(await isEmpty(later))
    assert.equal((await stat(earlier)).size, MANY.length)
  })

  test('leaves messages of the usual size alone, and whatever a link points to', async () => {
    const elsewhere = join(makeTemporaryFolder(), 'precious')
    await writeFile(elsewhere, MANY)
    logs.observe('u', runningIn(folder))
    await sleep(50)
    await writeFile(file, 'said')
    await symlink(elsewhere, join(folder, 'exchanged'))
    await sleep(150)
    assert.equal((await stat(file)).size, 4)
    assert.equal((await stat(elsewhere)).size, MANY.length)
  })

  test('empties a file that is large and has nothing in it: mapped into memory, it could be filled unseen', async () => {
    logs.observe('u', runningIn(folder))
    await sleep(50)
    await truncate(file, 1024 * MOST_MESSAGE_BYTES)
    assert.ok(await isEmpty())
  })

  test('keeps a container that writes all the time small without being busy with it', async () => {
    logs.observe('u', runningIn(folder))
    await using writer = await open(file, 'a')
    const before = process.cpuUsage()
    let largest = 0
    const end = systemClock.monotonic() + 500
    while (systemClock.monotonic() < end) {
      await writer.write(MANY.subarray(0, 10_000))
      largest = Math.max(largest, (await writer.stat()).size)
      await sleep(1)
    }
    const { user, system } = process.cpuUsage(before)
    assert.ok(largest < 2 * MOST_MESSAGE_BYTES, `${largest} bytes`)
    assert.ok(user + system < 450_000, `${user + system} µs`)
  })

  test('survives a folder that is not there', async () => {
    logs.observe('u', runningIn(join(folder, 'absent')))
    await sleep(50)
    logs.observe('u', runningIn(folder))
    await sleep(50)
    await rm(folder, { recursive: true })
    await mkdir(folder)
    logs.observe('u', undefined)
  })
})
