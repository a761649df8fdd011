import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../base/async/clock.ts'
import { lockFile, watchLockContention } from './lock-file.ts'

async function newPath(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-lock-'))
  t.after(() => rm(folder, { recursive: true }))
  return join(folder, 'lock')
}

async function listChildren(): Promise<readonly string[]> {
  return (await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')).trim().split(' ')
}

const sleep = (_: number, signal: AbortSignal) => systemClock.sleep(10, signal)

test('lockFile() holds a lock that others wait for', async (t) => {
  const path = await newPath(t)
  await lockFile(path, t.signal)
  const refused = spawn('flock', ['--exclusive', '--nonblock', path, 'true'], { stdio: 'ignore' })
  assert.deepEqual(await once(refused, 'exit'), [1, null])
})

test('lockFile() that is aborted leaves no process that waits', async (t) => {
  const path = await newPath(t)
  await lockFile(path, t.signal)
  const aborted = new AbortController()
  // Those of other tests of this process may end meanwhile.
  const before = new Set(await listChildren())
  const waits = lockFile(path, aborted.signal)
  const fresh = async () => (await listChildren()).filter((pid) => !before.has(pid))
  while ((await fresh()).length === 0) await sleep(10, t.signal)
  aborted.abort(new Error('leaving'))
  await assert.rejects(waits, /^Error: leaving$/)
  while ((await fresh()).length > 0) await sleep(10, t.signal)
})

test('lockFile() says why there is no lock', async (t) => {
  const path = await newPath(t)
  await assert.rejects(lockFile(`${path}/none`, t.signal), { code: 'ENOENT' })
  const programs = process.env['PATH']
  t.after(() => void (process.env['PATH'] = programs))
  process.env['PATH'] = '/nowhere'
  await assert.rejects(lockFile(path, t.signal), /^Error: Cannot lock ".*\/lock": spawn flock ENOENT$/)
})

test('watchLockContention() sees any process that opens the file, and nothing before', async (t) => {
  const path = await newPath(t)
  const lock = await lockFile(path, t.signal)
  let checks = 0
  const contention = watchLockContention(
    {
      lock,
      async sleep() {
        checks++
        if (checks === 3) await (await open(path, 'r')).close()
      },
    },
    t.signal,
  )
  const descriptors = (await readdir('/proc/self/fd')).length
  await contention()
  assert.equal(checks, 3)
  assert.equal((await readdir('/proc/self/fd')).length, descriptors - 1)
})

test('watchLockContention() sees that the file was taken away or replaced', async (t) => {
  const path = await newPath(t)
  const lock = await lockFile(path, t.signal)
  const contention = watchLockContention({ lock, sleep }, t.signal)()
  await rename(path, `${path}.old`)
  await writeFile(path, '')
  await contention
})

test('in a pid namespace the lock is held, and its contention seen', async (t) => {
  const path = await newPath(t)
  const script = `
    const { lockFile, watchLockContention } = await import(${JSON.stringify(fileURLToPath(new URL('lock-file.ts', import.meta.url)))})
    const { setTimeout } = await import('node:timers/promises')
    const { signal } = new AbortController()
    const lock = await lockFile(${JSON.stringify(path)}, signal)
    const contention = watchLockContention({ lock, sleep: () => setTimeout(10) }, signal)
    console.log('locked')
    await contention()
    console.log('contended')
    process.exit(0)`
  const argv = [
    '--pid',
    '--fork',
    '--mount-proc',
    '--kill-child',
    process.execPath,
    '--input-type=module',
    '-e',
    script,
  ]
  const inside = spawn('/usr/bin/unshare', argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => inside.kill('SIGKILL'))
  const exited = once(inside, 'exit')
  const lines = createInterface(inside.stdout)[Symbol.asyncIterator]()
  assert.equal((await lines.next()).value, 'locked')
  const waits = spawn('flock', ['--exclusive', path, 'true'], { stdio: 'ignore' })
  t.after(() => waits.kill())
  assert.deepEqual(await once(waits, 'exit'), [0, null])
  assert.deepEqual(await exited, [0, null])
  assert.equal((await lines.next()).value, 'contended')
})
