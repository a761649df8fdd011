import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { Turnstile } from '../../../base/async/turnstile.ts'
import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import { runExecProbe } from './run-exec-probe.ts'

const never = new AbortController().signal
const target = { containerId: 'c-1', command: ['cat', 'a b'], timeoutSeconds: 3 }
const bytes = (text: string) => new TextEncoder().encode(text)

function setUp(execSync: CriCalls['execSync'], places = 1) {
  const clock = new FakeClock()
  return { clock, deps: { calls: { execSync }, execs: new Turnstile({ places, patienceMs: 1000, clock }) } }
}

describe('runExecProbe()', () => {
  test('gives the runtime container, command and timeout; exit 0 is success', async () => {
    let asked: unknown
    const { deps } = setUp(async (request) => {
      asked = request
      return { exitCode: 0, stdout: bytes('out'), stderr: bytes('') }
    })
    assert.deepEqual(await runExecProbe(deps, target, never), { result: 'success', output: 'out' })
    assert.deepEqual(asked, { containerId: 'c-1', cmd: ['cat', 'a b'], timeout: 3n })
  })

  test('another exit is a failure, with the first 10 KiB of stdout and stderr', async () => {
    const { deps } = setUp(async () => ({
      exitCode: 7,
      stdout: bytes('o'.repeat(10_000)),
      stderr: bytes('e'.repeat(10_000)),
    }))
    const { result, output } = await runExecProbe(deps, target, never)
    assert.deepEqual([result, output], ['failure', 'o'.repeat(10_000) + 'e'.repeat(240)])
  })

  test('a command that took too long is a failure', async () => {
    const { deps } = setUp(async () => {
      throw new CriCallError('execSync', 'DeadlineExceeded', 'timeout 3s exceeded')
    })
    assert.deepEqual(await runExecProbe(deps, target, never), {
      result: 'failure',
      output: 'command timed out: "cat a b" timed out after 3s',
    })
  })

  test('a runtime that cannot run it is an error', async () => {
    const { deps } = setUp(async () => {
      throw new CriCallError('execSync', 'Unknown', 'container is in CONTAINER_EXITED state')
    })
    assert.deepEqual(await runExecProbe(deps, target, never), {
      result: 'error',
      output: 'rpc error: code = Unknown desc = container is in CONTAINER_EXITED state',
      state: 'unknown',
    })
  })

  test('rejects with the reason when it is no longer wanted', async () => {
    const stop = new AbortController()
    const reason = new Error('ended')
    const { deps } = setUp(async (_, signal) => {
      stop.abort(reason)
      throw signal.reason
    })
    await assert.rejects(runExecProbe(deps, target, stop.signal), reason)
  })

  test('only a few run at a time; one that hangs frees its place', async () => {
    let started = 0
    const { deps, clock } = setUp(() => ((started += 1), new Promise(() => {})), 2)
    for (let index = 0; index < 5; index += 1) void runExecProbe(deps, target, never)
    await clock.advance(0)
    assert.equal(started, 2)
    await clock.advance(1000)
    assert.equal(started, 4)
    await clock.advance(1000)
    assert.equal(started, 5)
  })
})
