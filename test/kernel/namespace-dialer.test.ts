import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readlink } from 'node:fs/promises'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/async/clock.ts'
import { runProcessOrThrow } from '../../src/system/processes/run-process.ts'
import { openNamespaceDialer } from '../../src/system/network/namespace-dialer.ts'

const never = new AbortController().signal
// Greets and repeats: on port 7001 over IPv4, on 7002 over IPv6, both on the loopback alone.
const SERVER = `
const { createServer } = require('node:net')
const serve = (socket) => { socket.write('hello '); socket.pipe(socket) }
process.stdin.once('data', () => {
  createServer({ allowHalfOpen: true }, serve).listen(7001, '127.0.0.1', () => {
    createServer({ allowHalfOpen: true }, serve).listen(7002, '::1', () => console.log('ready'))
  })
})`

/** A process in a network namespace of its own, with servers on its loopback. */
async function startPod(t: TestContext): Promise<number> {
  const child = spawn('unshare', ['--net', process.execPath, '-e', SERVER], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const namespaceOf = (process: string) => readlink(`/proc/${process}/ns/net`)
  while ((await namespaceOf(String(pid))) === (await namespaceOf('self'))) await sleep(5)
  const argv = ['nsenter', '--target', String(pid), '--net', 'ip', 'link', 'set', 'lo', 'up']
  await runProcessOrThrow(systemClock, { argv, deadlineMs: 5000 }, never)
  child.stdin.write('go\n')
  for await (const line of createInterface({ input: child.stdout })) if (line === 'ready') return pid
  throw new Error('the server did not start')
}

describe('openNamespaceDialer()', () => {
  test('reaches what listens on the loopback of a namespace, over both families', async (t) => {
    using dialer = openNamespaceDialer(await startPod(t))
    for (const port of [7001, 7002]) {
      const socket = await dialer.dial(port)
      socket.end('there')
      assert.equal(await text(socket), 'hello there')
    }
  })

  test('gives many connections at once, each its own', async (t) => {
    using dialer = openNamespaceDialer(await startPod(t))
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const socket = await dialer.dial(7001)
        socket.end(String(index))
        return await text(socket)
      }),
    )
    assert.deepEqual(
      answers,
      Array.from({ length: 20 }, (_, index) => `hello ${index}`),
    )
  })

  test('says why there is no connection: no listener, no such process, or closed', async (t) => {
    const dialer = openNamespaceDialer(await startPod(t))
    await assert.rejects(dialer.dial(9), /connect ECONNREFUSED 127\.0\.0\.1:9/)
    dialer[Symbol.dispose]()
    await assert.rejects(dialer.dial(7001), /the dialer was closed/)
    using gone = openNamespaceDialer(2 ** 30)
    await assert.rejects(gone.dial(7001), /cannot enter the network namespace/)
  })
})
