import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../base/async/clock.ts'
import { findProcess, parseIdentity, rememberProcess, stopProcess } from './known-process.ts'

async function identityFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-test-'))
  t.after(() => rm(folder, { recursive: true }))
  return join(folder, 'process.pid')
}

describe('known processes', () => {
  test('are found and stopped', async (t) => {
    const file = await identityFile(t)
    const child = spawn('sleep', ['1000'])
    const exited = once(child, 'exit')
    const identity = await rememberProcess(file, child.pid ?? 0, 'log')
    assert.deepEqual(await findProcess({ file }), identity)
    assert.equal(await stopProcess(systemClock, { file, graceMs: 5000 }, t.signal), true)
    assert.deepEqual(await exited, [null, 'SIGTERM'])
    assert.equal(await stopProcess(systemClock, { file, graceMs: 5000 }, t.signal), false)
  })

  test('are not found when another process has their pid now', async (t) => {
    const file = await identityFile(t)
    const identity = await rememberProcess(file, process.pid, 'log')
    for (const other of [
      { ...identity, startTicks: identity.startTicks - 1 },
      { ...identity, bootId: 'another boot' },
    ]) {
      await writeFile(file, JSON.stringify(other))
      assert.equal(await findProcess({ file }), undefined)
      assert.equal(await stopProcess(systemClock, { file, graceMs: 0 }, t.signal), false)
    }
    await assert.rejects(readFile(file))
  })

  test('are found by their command line when the disk did not take the file', async (t) => {
    const file = await identityFile(t)
    await mkdir(`${file}.new`)
    const child = spawn('/usr/bin/tail', ['-f', '/dev/null', file])
    const exited = once(child, 'exit')
    const message = new RegExp(`^Cannot note process ${child.pid} in "${file}": `)
    await assert.rejects(rememberProcess(file, child.pid ?? 0, 'log'), { name: 'UnnotedError', message })
    const known = { file, command: ['/dev/null', file] }
    assert.equal((await findProcess(known))?.pid, child.pid)
    assert.equal(await findProcess({ file }), undefined)
    assert.equal(await findProcess({ file, command: ['null', file] }), undefined)
    assert.equal(await stopProcess(systemClock, { ...known, graceMs: 5000 }, t.signal), true)
    assert.deepEqual(await exited, [null, 'SIGTERM'])
  })

  test('are killed after the grace when they do not leave', async (t) => {
    const file = await identityFile(t)
    const child = spawn('/bin/sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 0.1; done'])
    await once(child.stdout, 'data')
    const exited = once(child, 'exit')
    await rememberProcess(file, child.pid ?? 0, 'log')
    assert.equal(await stopProcess(systemClock, { file, graceMs: 50 }, t.signal), true)
    assert.deepEqual(await exited, [null, 'SIGKILL'])
  })
})

describe('parseIdentity()', () => {
  for (const text of ['', '{', '{}', '{"pid":1}', '{"pid":"1","startTicks":2,"bootId":"b"}', '[]']) {
    test(`takes "${text}" for none`, () => assert.equal(parseIdentity(text), undefined))
  }
})
