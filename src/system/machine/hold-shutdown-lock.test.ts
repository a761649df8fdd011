import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { until } from '../../../test/fakes/until.ts'
import { holdShutdownLock } from './hold-shutdown-lock.ts'

const never = new AbortController().signal

/** A program like systemd-inhibit: runs another and notes which process it is; "gone" is noted when that has ended. */
function standIn(t: TestContext): { readonly program: readonly string[]; read(): string } {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-lock-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [script, note] = [join(folder, 'inhibit'), join(folder, 'note')]
  writeFileSync(script, `#!/bin/sh\necho $$ >"${note}"\n"$@"\necho gone >"${note}"\n`, { mode: 0o755 })
  writeFileSync(note, '')
  return { program: [script], read: () => readFileSync(note, 'utf8').trim() }
}

describe('holdShutdownLock()', () => {
  test('holds the lock until it is released', async (t) => {
    const inhibit = standIn(t)
    let losses = 0
    const lock = await holdShutdownLock({ program: inhibit.program, onLost: () => (losses += 1) }, never)
    assert.match(inhibit.read(), /^\d+$/)
    lock[Symbol.dispose]()
    await until(() => inhibit.read() === 'gone')
    assert.deepEqual([losses, lock.isLost], [0, false])
  })

  test('reports when the lock is lost', async (t) => {
    const inhibit = standIn(t)
    let losses = 0
    const lock = await holdShutdownLock({ program: inhibit.program, onLost: () => (losses += 1) }, never)
    process.kill(Number(inhibit.read()), 'SIGKILL')

    await until(() => losses === 1)
    assert.equal(lock.isLost, true)
    lock[Symbol.dispose]()
  })

  test('says why there is no lock', async () => {
    const take = (...program: readonly string[]) => holdShutdownLock({ program, onLost: () => {} }, never)
    await assert.rejects(take('sh', '-c', 'echo no logind >&2; exit 1'), /ended before it held the lock: no logind/)
    await assert.rejects(take('/nowhere/systemd-inhibit'), /no such program can be started/)
  })

  test('gives up when that is wanted', async () => {
    const leave = new AbortController()
    const taking = holdShutdownLock({ program: ['sh', '-c', 'exec sleep 60'], onLost: () => {} }, leave.signal)
    leave.abort(new Error('enough'))
    await assert.rejects(taking)
  })
})
