import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DeadlineError } from '../../base/async/abort-errors.ts'
import { systemClock } from '../../base/async/clock.ts'
import { ProcessError, runProcess, runProcessOrThrow } from './run-process.ts'

const deadlineMs = 10_000

describe('runProcess()', () => {
  test('gives output and exit code, and passes arguments and input as they are', async (t) => {
    const argv = ['/bin/sh', '-c', 'printf %s "$1"; cat >&2; exit 3', 'sh', 'a $HOME "b"']
    const result = await runProcess(systemClock, { argv, deadlineMs, stdin: 'input' }, t.signal)
    assert.deepEqual(result, { exitCode: 3, stdout: 'a $HOME "b"', stderr: 'input' })
  })

  test('keeps only so much of the output and reads the rest', async (t) => {
    const argv = ['/bin/sh', '-c', 'head -c 1000000 /dev/zero | tr "\\0" x']
    const result = await runProcess(systemClock, { argv, deadlineMs, maxOutputBytes: 10 }, t.signal)
    assert.deepEqual(result, { exitCode: 0, stdout: 'xxxxxxxxxx', stderr: '' })
  })

  test('kills the whole group at the deadline, also what holds the output open', async (t) => {
    // Names itself by an unusual number, so that the test can find it.
    const seconds = `${1000 + process.pid}`
    const argv = ['/bin/sh', '-c', `sleep ${seconds} & wait`]
    const clock = { ...systemClock, sleep: (_ms: number, signal: AbortSignal) => systemClock.sleep(200, signal) }
    await assert.rejects(runProcess(clock, { argv, deadlineMs }, t.signal), DeadlineError)
    const find = { argv: ['pgrep', '-f', `sleep ${seconds}`], deadlineMs }
    // The kernel takes a moment to bury what was killed; the runner's own limit ends this if it never does.
    while ((await runProcess(systemClock, find, t.signal)).stdout !== '') await systemClock.sleep(20, t.signal)
  })

  test('ends with the reason of the abort', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const running = runProcess(systemClock, { argv: ['sleep', '1000'], deadlineMs }, controller.signal)
    controller.abort(reason)
    await assert.rejects(running, reason)
  })

  test('says what cannot be started', async (t) => {
    const running = runProcess(systemClock, { argv: ['/no/such/program'], deadlineMs }, t.signal)
    await assert.rejects(running, {
      name: 'ProcessError',
      message: /^Cannot run "\/no\/such\/program": no such program/,
    })
  })

  test('ends with an abort before a program that cannot be started has failed, and nothing else', async () => {
    const reason = new Error('enough')
    const before = AbortSignal.abort(reason)
    await assert.rejects(runProcess(systemClock, { argv: ['/no/such/program'], deadlineMs }, before))
    // Its failure comes now, and no caller waits for it.
    await systemClock.sleep(20, new AbortController().signal)
  })
})

describe('runProcessOrThrow()', () => {
  test('carries what a failed program said', async (t) => {
    const argv = ['/bin/sh', '-c', 'echo broken >&2; exit 4']
    await assert.rejects(runProcessOrThrow(systemClock, { argv, deadlineMs }, t.signal), (error: unknown) => {
      assert.ok(error instanceof ProcessError)
      assert.match(error.message, /exit code 4, expected 0: broken$/)
      assert.equal(error.result?.exitCode, 4)
      return true
    })
  })
})
