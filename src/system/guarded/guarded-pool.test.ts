import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { DeadlineError } from '../../base/async/abort-errors.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { GuardedPool } from './guarded-pool.ts'
import type { GuardedTask } from './guarded-pool.ts'

const never = new AbortController().signal

/** Does what the request says: answers with its pid, stays silent, reports progress, fails or dies. */
const child = `
const lines = require('node:readline').createInterface({ input: process.stdin })
const reply = (answer) => process.stdout.write(JSON.stringify(answer) + '\\n')
lines.on('line', (line) => {
  const { operation, request } = JSON.parse(line)
  if (operation === 'pid') reply({ result: process.pid })
  if (operation === 'echo') reply({ result: request })
  if (operation === 'progress') for (const progress of [1, 2]) reply({ progress })
  if (operation === 'fail') reply({ error: { message: 'no', code: 'ENOENT' } })
  if (operation === 'die') { process.stderr.write('oh'); process.stderr.end(() => process.exit(3)) }
})`

function setUp(t: TestContext, argv: readonly string[] = [process.execPath, '-e', child]) {
  const clock = new FakeClock()
  const pool = new GuardedPool({ clock, log: silentLogger, argv: async () => argv })
  t.after(() => pool[Symbol.dispose]())
  const run = (task: Partial<GuardedTask> & { operation: string }, signal = never) =>
    pool.run({ request: null, place: '/v', silenceMs: 10_000, ...task }, signal)
  return { clock, pool, run }
}

/** Real processes move at their own pace, whatever the clock of the test says. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate()
}

function isAlive(pid: unknown): boolean {
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false
  }
}

describe('GuardedPool', () => {
  test('uses a child again while it is idle, and ends it after a while', async (t) => {
    const { clock, pool, run } = setUp(t)
    const pid = await run({ operation: 'pid' })
    await clock.advance(4999)
    assert.equal(await run({ operation: 'pid' }), pid)
    await clock.advance(4999)
    assert.deepEqual([pool.size, isAlive(pid)], [{ working: 0, idle: 1, dying: 0 }, true])
    await clock.advance(1)
    await until(() => !isAlive(pid))
    assert.deepEqual([pool.size, clock.sleeping], [{ working: 0, idle: 0, dying: 0 }, 0])
  })

  test('passes on large answers whole, and failures with their code', async (t) => {
    const { run } = setUp(t)
    const text = 'Å'.repeat(1_000_000)
    assert.equal(await run({ operation: 'echo', request: text }), text)
    await assert.rejects(run({ operation: 'fail' }), { name: 'GuardedFileError', message: 'no', code: 'ENOENT' })
    assert.equal(await run({ operation: 'echo', request: 7 }), 7)
  })

  test('gives up one that is silent for too long, and counts from the last word', async (t) => {
    const { clock, pool, run } = setUp(t)
    const reported: number[] = []
    const late = run({ operation: 'progress', onProgress: (entries) => reported.push(entries) })
    const end = assert.rejects(late, (error: unknown) => {
      assert.ok(error instanceof DeadlineError)
      assert.equal(error.message, 'Cannot finish "progress" of "/v": nothing heard for 10000 ms')
      return true
    })
    await until(() => reported.length === 2)
    await clock.advance(10_000)
    assert.equal(pool.size.working, 1)
    await clock.advance(10_000)
    await end
    await until(() => pool.size.dying === 0)
    assert.deepEqual([reported, pool.size, clock.sleeping], [[1, 2], { working: 0, idle: 0, dying: 0 }, 0])
  })

  test('gives up at once when the caller no longer wants the answer, and serves the same place again', async (t) => {
    const { clock, pool, run } = setUp(t)
    const wanted = new AbortController()
    const stuck = run({ operation: 'silence' }, wanted.signal)
    await until(() => pool.size.working === 1)
    const leave = new Error('leave')
    wanted.abort(leave)
    await assert.rejects(stuck, leave)
    assert.equal(await run({ operation: 'echo', request: 1 }), 1)
    await clock.advance(5000)
    assert.deepEqual([pool.size, clock.sleeping], [{ working: 0, idle: 0, dying: 0 }, 0])
  })

  test('lets a fifth through when four are stuck', async (t) => {
    const { clock, pool, run } = setUp(t)
    const leave = new AbortController()
    const stuck = ['/a', '/b', '/c', '/d'].map((place) => run({ operation: 'silence', place }, leave.signal))
    const ended = Promise.allSettled(stuck)
    const fifth = run({ operation: 'echo', request: 5, place: '/e' })
    await until(() => pool.size.working === 4)
    await clock.advance(1000)
    assert.equal(await fifth, 5)
    leave.abort(new Error('leave'))
    assert.ok((await ended).every(({ status }) => status === 'rejected'))
  })

  test('reports how a child died, and starts another', async (t) => {
    const { run } = setUp(t)
    await assert.rejects(run({ operation: 'die' }), {
      name: 'GuardedFileError',
      message: 'Cannot finish: its process ended with exit code 3: oh',
    })
    const pid = await run({ operation: 'pid' })
    process.kill(Number(pid), 'SIGKILL')
    await until(() => !isAlive(pid))
    assert.notEqual(await run({ operation: 'pid' }), pid)
  })

  test('reports that a child was killed from outside', async (t) => {
    const { pool, run } = setUp(t)
    const pid = await run({ operation: 'pid' })
    const answer = run({ operation: 'silence' })
    await until(() => pool.size.working === 1)
    process.kill(Number(pid), 'SIGKILL')
    await assert.rejects(answer, { message: 'Cannot finish: its process ended with SIGKILL' })
  })

  test('fails when a child cannot be started', async (t) => {
    const { pool, run } = setUp(t, ['/nowhere/node'])
    await assert.rejects(run({ operation: 'pid' }), /Cannot finish: its process cannot be started: .*ENOENT/)
    assert.deepEqual(pool.size, { working: 0, idle: 0, dying: 0 })
  })

  test('kills everything at its end, and does nothing after', async (t) => {
    const { clock, pool, run } = setUp(t)
    const pid = await run({ operation: 'pid' })
    const stuck = assert.rejects(run({ operation: 'silence' }), /its process was killed/)
    await until(() => pool.size.working === 1)
    pool[Symbol.dispose]()
    await stuck
    await until(() => !isAlive(pid))
    await assert.rejects(run({ operation: 'pid' }), /the agent is leaving/)
    assert.equal(clock.sleeping, 0)
  })

  test('has children that end with the agent', async () => {
    const agent = `
      import { GuardedPool } from '${import.meta.dirname}/guarded-pool.ts'
      import { systemClock } from '${import.meta.dirname}/../../base/async/clock.ts'
      const log = { debug() {} }
      const pool = new GuardedPool({ clock: systemClock, log, argv: async () => [process.execPath, '-e', ${JSON.stringify(child)}] })
      const task = { operation: 'pid', request: null, place: '/v', silenceMs: 10_000 }
      console.log(await pool.run(task, new AbortController().signal))
      process.kill(process.pid, 'SIGKILL')`
    const started = spawn(process.execPath, ['--input-type=module', '-e', agent], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    started.stdout.on('data', (chunk) => (said += chunk))
    await once(started, 'close')
    assert.match(said, /^\d+\n$/)
    await until(() => !isAlive(Number(said)))
  })
})
