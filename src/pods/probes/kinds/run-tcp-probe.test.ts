import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { systemClock } from '../../../base/async/clock.ts'
import { podNetwork } from '../pod-network.ts'
import { runTcpProbe } from './run-tcp-probe.ts'

const never = new AbortController().signal
const deps = { network: podNetwork, clock: systemClock }

async function listen(host: string) {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

describe('runTcpProbe()', () => {
  for (const host of ['127.0.0.1', '::1']) {
    test(`a connection to ${host} is success, and closed at once`, async (t) => {
      const { server, port } = await listen(host)
      t.after(() => server.close())
      const ended = once(server, 'connection').then(([socket]) => once(socket.resume(), 'close'))
      assert.deepEqual(await runTcpProbe(deps, { host, port, timeoutSeconds: 5 }, never), {
        result: 'success',
        output: '',
      })
      await ended
    })
  }

  test('a refusal is a failure that says so', async () => {
    const { server, port } = await listen('127.0.0.1')
    server.close()
    await once(server, 'close')
    assert.deepEqual(await runTcpProbe(deps, { host: '127.0.0.1', port, timeoutSeconds: 5 }, never), {
      result: 'failure',
      output: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
    })
  })

  test('what takes too long is a failure', async () => {
    // The timeout passes before the connection can come.
    const clock = { ...systemClock, sleep: async () => {} }
    assert.deepEqual(
      await runTcpProbe({ network: podNetwork, clock }, { host: '127.0.0.1', port: 9, timeoutSeconds: 2 }, never),
      {
        result: 'failure',
        output: 'dial tcp 127.0.0.1:9: i/o timeout',
      },
    )
  })

  test('rejects with the reason when it is no longer wanted', async () => {
    const reason = new Error('ended')
    const stop = new AbortController()
    const run = runTcpProbe(deps, { host: '127.0.0.1', port: 9, timeoutSeconds: 2 }, stop.signal)
    stop.abort(reason)
    await assert.rejects(run, reason)
  })
})
