import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../src/base/async/clock.ts'
import { runProcessOrThrow } from '../../../src/system/processes/run-process.ts'
import { testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

const FEW = 256
const CLIENTS = 600
const PORTS = [10250, 10255, 10248]

test('clients that sit on all ports take no descriptor that pods need', async () => {
  await using node = await TestNode.start({
    through: ['prlimit', `--nofile=${FEW}:${FEW}`],
    config: { maxOpenFiles: FEW },
  })
  const sockets: Socket[] = []
  for (let i = 0; i < CLIENTS; i += 1) {
    const socket = node.lab.network.connect('127.0.0.1', PORTS[i % PORTS.length] ?? 0)
    socket.on('error', () => {})
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
    sockets.push(socket)
  }
  await node.lab.manifests.write('app', testPod('app'))
  await node.ready('app')
  const { body } = await node.lab.network.get('http://127.0.0.1:10255/metrics')
  const open = Number(/^process_open_fds (\d+)$/m.exec(body)?.[1])
  assert.ok(open < FEW * 0.75, `${open} of ${FEW} descriptors are open`)
  const failures = body.split('\n').filter((line) => /^deckhand_(loop|task)_failures_total.* [1-9]/.test(line))
  assert.deepEqual(failures, [])
  for (const socket of sockets) socket.destroy()
})

test('an agent without a descriptor to spare lives on, and works when it has some', async () => {
  await using node = await TestNode.start()
  const { pid } = node.agent
  const limit = async (files: number) => {
    const argv = ['prlimit', `--pid=${pid}`, `--nofile=${files}:`]
    await runProcessOrThrow(systemClock, { argv, deadlineMs: 5000 }, new AbortController().signal)
  }
  await limit(3)
  await node.lab.manifests.write('app', testPod('app'))
  await node.logged('a loop of the agent failed, will run it again', 'EMFILE')
  await sleep(10_000)
  await limit(1024)
  await node.ready('app', 90_000)
  // What was to be loaded in that time is loaded later.
  await node.logged('listening', 'port=10250')
  assert.equal(await Promise.race([node.agent.exited, sleep(10, 'alive')]), 'alive')
})
