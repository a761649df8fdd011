import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { systemClock } from '../../../base/async/clock.ts'
import { Connector } from './connector.ts'

test('Connector reports how long a name takes to be looked up, and nothing for an address', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const hosts: string[] = []
  for (const host of ['localhost', '127.0.0.1']) {
    const connector = new Connector({
      server: new URL(`http://${host}:${port}`),
      serverName: undefined,
      readTrust: async () => ({ kind: 'anyone' }),
      proxy: undefined,
      onHostResolved: ({ host: found, seconds }) => {
        assert.ok(seconds >= 0)
        hosts.push(found)
      },
      clock: systemClock,
    })
    const socket = await connector.connect({ certificate: undefined, protocols: ['http/1.1'] }, t.signal)
    socket.destroy()
  }
  assert.deepEqual(hosts, [`localhost:${port}`])
})
