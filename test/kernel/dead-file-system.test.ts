import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DeadlineError } from '../../src/base/async/abort-errors.ts'
import { FakeClock } from '../fakes/fake-clock.ts'
import { mountDeadFileSystem } from './dead-file-system.ts'
import { createGuardedWorld } from './guarded-world.ts'

/** Child processes of one that run the program of GuardedFiles. */
function children(agent = process.pid): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/exe`) === process.execPath && parentOf(pid) === agent
    } catch {
      return false
    }
  })
}

function parentOf(pid: string): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

test('a file system that does not answer holds up only its callers, and nothing of it stays', async (t) => {
  const clock = new FakeClock()
  const { folder, namespace, files, signal } = await createGuardedWorld(t, clock)
  const dead = join(folder, 'dead')
  mkdirSync(dead)
  writeFileSync(join(folder, 'file'), 'alive')
  using _ = await mountDeadFileSystem(namespace, dead)
  const target = join(folder, 'volume-subpaths/v/c/0')
  const all = { root: dead, group: 1, readOnly: false, onlyOnRootMismatch: false }
  const stuck = [
    files.kindOf(join(dead, 'x'), signal),
    files.checkHostPath({ path: join(dead, 'z'), type: '' }, signal),
    files.measureTree(dead, signal),
    files.setOwnership(all, () => {}, signal),
    files.bindSubPath({ root: join(dead, 'y'), path: 'a', target }, signal),
  ].map((attempt) => assert.rejects(attempt, DeadlineError))
  const alive = files.readFile({ root: folder, path: 'file', maxBytes: 10 }, signal)
  while (children().length < 4) await sleep(5)
  await clock.advance(1000)
  assert.equal(Buffer.from(await alive).toString(), 'alive')
  // Its child is stuck in the kernel: the agent kills it and goes on.
  const wanted = new AbortController()
  const unwanted = assert.rejects(files.measureFileSystem(dead, wanted.signal), /leave/)
  await sleep(100)
  wanted.abort(new Error('leave'))
  await unwanted
  for (let seconds = 0; seconds < 80; seconds += 1) {
    await clock.advance(1000)
    await sleep(5)
  }
  await Promise.all(stuck)
  assert.deepEqual(namespace.mounts(join(folder, 'volume-subpaths')), [])
  while (children().length > 0) await sleep(5)
  assert.equal(clock.sleeping, 0)
})

test('the agent leaves at once while a child is stuck', async (t) => {
  const { folder, namespace, files, signal } = await createGuardedWorld(t)
  const dead = join(folder, 'dead')
  mkdirSync(dead)
  using _ = await mountDeadFileSystem(namespace, dead)
  const stuck = assert.rejects(files.measureTree(dead, signal), /killed/)
  while (children().length === 0) await sleep(5)
  await sleep(100)
  const started = performance.now()
  files[Symbol.dispose]()
  await stuck
  assert.ok(performance.now() - started < 500)
})

test('a child that is stuck dies with an agent that is killed', async (t) => {
  const { folder, namespace } = await createGuardedWorld(t)
  const dead = join(folder, 'dead')
  mkdirSync(dead)
  using _ = await mountDeadFileSystem(namespace, dead)
  const program = fileURLToPath(new URL('./stuck-agent.ts', import.meta.url))
  const agent = spawn(process.execPath, [program, join(dead, 'x'), ...namespace.enter], { stdio: 'inherit' })
  t.after(() => agent.kill('SIGKILL'))
  const wait = () => sleep(5, undefined, { signal: t.signal })
  while (children(agent.pid).length === 0) await wait()
  const [child] = children(agent.pid)
  // Now it hangs in the file system.
  await sleep(200)
  agent.kill('SIGKILL')
  while (existsSync(`/proc/${child}`)) await wait()
})

test('binds of a dead file system can be taken away', async (t) => {
  const { folder, namespace, files, signal } = await createGuardedWorld(t)
  const dead = join(folder, 'dead')
  const targets = join(folder, 'volume-subpaths')
  const target = join(targets, 'v/c/0')
  mkdirSync(dead)
  mkdirSync(target, { recursive: true })
  using _ = await mountDeadFileSystem(namespace, dead)
  await namespace.run('mount', '--no-canonicalize', '--bind', dead, target)
  await files.releaseSubPaths(targets, signal)
  assert.deepEqual([namespace.mounts(targets), readdirSync(folder)], [[], ['dead']])
})
