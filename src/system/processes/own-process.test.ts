import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../base/async/clock.ts'
import { lockFile, nameProcess, raiseOpenFiles, waitForLockContention } from './own-process.ts'

test('lockFile() holds a lock that others wait for, and waitForLockContention() sees them', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-lock-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'lock')
  await lockFile(path)
  const refused = spawn('flock', ['--exclusive', '--nonblock', path, 'true'], { stdio: 'ignore' })
  assert.deepEqual(await once(refused, 'exit'), [1, null])
  const contention = waitForLockContention({ path, sleep: (_, signal) => systemClock.sleep(10, signal) }, t.signal)
  const other = spawn('flock', ['--exclusive', path, 'true'], { stdio: 'ignore' })
  t.after(() => other.kill())
  await contention
})

test('nameProcess() names the process and keeps its arguments', async () => {
  const before = await readFile('/proc/self/cmdline', 'utf8')
  nameProcess('kubelet')
  assert.equal(await readFile('/proc/self/comm', 'utf8'), 'kubelet\n')
  assert.equal(await readFile('/proc/self/cmdline', 'utf8'), before)
})

test('raiseOpenFiles() is content with what is there', async () => {
  assert.equal(await raiseOpenFiles(1), undefined)
})
