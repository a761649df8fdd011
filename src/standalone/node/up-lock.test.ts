import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { exitCodes } from './node-error.ts'
import { isUpLocked, takeUpLock } from './up-lock.ts'

async function lockFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-test-'))
  t.after(() => rm(folder, { recursive: true }))
  return join(folder, 'up.pid')
}

test('takeUpLock() lets one in of several at once', async (t) => {
  const file = await lockFile(t)
  const results = await Promise.allSettled([1, 2, 3].map(() => takeUpLock(file, process.pid)))
  const taken = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const rejected = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.exitCode] : []))
  assert.equal(taken.length, 1)
  assert.deepEqual(rejected, [exitCodes.otherState, exitCodes.otherState])
  await taken[0]?.[Symbol.asyncDispose]()
  assert.equal(existsSync(file), false)
})

test('takeUpLock() takes over from one that was killed', async (t) => {
  const file = await lockFile(t)
  await writeFile(file, JSON.stringify({ pid: process.pid, startTicks: 1, bootId: 'an earlier boot' }))
  await using lock = await takeUpLock(file, process.pid)
  assert.ok(lock)
})

test('isUpLocked() knows an "up" that is not noted', async (t) => {
  const file = await lockFile(t)
  {
    await using lock = await takeUpLock(file, process.pid)
    await rm(file)
    assert.equal(await isUpLocked(file), true)
    assert.ok(lock)
  }
  while (await isUpLocked(file)) await setImmediate()
})

test('takeUpLock() says why it cannot be noted when that is not for want of space', async (t) => {
  const file = await lockFile(t)
  await mkdir(`${file}.new`)
  await assert.rejects(takeUpLock(file, process.pid), { code: 'EISDIR' })
})
