import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test, type TestContext } from 'node:test'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { runShutdownSocket } from './run-shutdown-socket.ts'

/** A socket in front of pods that end when the test says so. */
async function serve(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-shutdown-'))
  const path = join(folder, 'deckhand/shutdown.sock')
  const stop = new AbortController()
  const group = new TaskGroup(stop.signal)
  const pods = Promise.withResolvers<boolean>()
  const listening = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const shutdown = {
    isShuttingDown: false,
    async begin(_: string, say?: (line: string) => void) {
      shutdown.isShuttingDown = true
      say?.('ending 1 pod')
      begun.resolve()
      return await pods.promise
    },
    cancel: async () => false,
  }
  const deps = { shutdown, path, log: silentLogger, onListening: () => listening.resolve() }
  group.run('socket', (signal) => runShutdownSocket(deps, signal))
  t.after(async () => {
    stop.abort(new Error('test ends'))
    await group.join()
    rmSync(folder, { recursive: true })
  })
  await listening.promise
  const ask = (command: string) => {
    const socket = connect(path)
    socket.write(`${command}\n`)
    return { socket, answer: text(socket) }
  }
  return { ask, pods, begun: begun.promise, path }
}

describe('runShutdownSocket()', () => {
  test('reports what is done, and answers at its end', async (t) => {
    const { ask, pods, begun } = await serve(t)
    assert.equal(await ask('state').answer, '{"end":"running"}\n')
    const { answer } = ask('begin')
    await begun
    assert.equal(await ask('state').answer, '{"end":"shutting down"}\n')
    pods.resolve(true)
    assert.equal(await answer, '{"line":"ending 1 pod"}\n{"end":"done"}\n')
  })

  test('says that it was cancelled, that there was nothing to cancel, and what it does not know', async (t) => {
    const { ask, pods } = await serve(t)
    const { answer } = ask('begin')
    pods.resolve(false)
    assert.match(await answer, /\{"end":"cancelled"\}\n$/)
    assert.equal(await ask('cancel').answer, '{"end":"nothing"}\n')
    assert.equal(await ask('frob').answer, '{"end":"unknown"}\n')
  })

  test('a client that leaves does not stop the shutdown, nor the clients that stay', async (t) => {
    const { ask, pods, begun } = await serve(t)
    const { socket, answer } = ask('begin')
    answer.catch(() => {})
    await begun
    socket.destroy()
    const other = ask('begin')
    pods.resolve(true)
    assert.match(await other.answer, /\{"end":"done"\}\n$/)
  })

  test('only root and its group come near', async (t) => {
    const { path } = await serve(t)
    assert.equal(statSync(join(path, '..')).mode & 0o777, 0o750)
  })
})
