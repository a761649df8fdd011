import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { ClientConnections } from './client-connections.ts'
import type { ConnectionLimits } from './connection-limits.ts'

/** A server that says hello, so that a client knows when the server has it. */
async function serve(t: TestContext, limits: ConnectionLimits) {
  const server = createServer()
  const connections = new ClientConnections(server, limits)
  const taken: Socket[] = []
  server.on('connection', (socket) => {
    taken.push(socket)
    socket.write('hello')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    connections.destroyAll()
    server.close()
  })
  return {
    connections,
    /** The server's end of a new connection, undefined where it closed it at once. */
    open: async (address = '127.0.0.1'): Promise<Socket | undefined> => {
      const { port } = server.address() as AddressInfo
      const client = connect({ host: '127.0.0.1', port, localAddress: address })
      client.on('error', () => {})
      t.after(() => client.destroy())
      await once(client, 'connect')
      await Promise.race([once(client, 'data'), once(client, 'close')])
      const socket = taken.find(({ remotePort, destroyed }) => remotePort === client.localPort && !destroyed)
      client.resume()
      return socket
    },
  }
}

const isOpen = (socket: Socket | undefined) => socket !== undefined && !socket.destroyed

describe('ClientConnections', () => {
  test('let a newcomer drive out the oldest one that is not kept', async (t) => {
    const { connections, open } = await serve(t, { all: 10, replaceable: 2 })
    const [first, second, third] = [await open(), await open(), await open()]
    assert.deepEqual([first, second, third].map(isOpen), [false, true, true])
    if (second) connections.keep(second)
    const [fourth, fifth] = [await open(), await open()]
    assert.deepEqual([second, third, fourth, fifth].map(isOpen), [true, false, true, true])
  })

  test('one that is no longer kept is the youngest', async (t) => {
    const { connections, open } = await serve(t, { all: 10, replaceable: 2 })
    const [first, second] = [await open(), await open()]
    assert.ok(first)
    const releases = [connections.keep(first), connections.keep(first)]
    releases[0]?.()
    assert.deepEqual([await open(), await open(), first, second].map(isOpen), [true, true, true, false])
    releases[1]?.()
    const next = await open()
    assert.deepEqual([first, next].map(isOpen), [true, true])
  })

  test('give each address its share', async (t) => {
    const { connections, open } = await serve(t, { all: 20, replaceable: 10, perAddress: 2 })
    const other = await open('127.0.0.2')
    const [first, second, third] = [await open(), await open(), await open()]
    assert.deepEqual([other, first, second, third].map(isOpen), [true, false, true, true])
    for (const socket of [second, third]) if (socket) connections.keep(socket)
    assert.deepEqual([await open(), second, third, await open('127.0.0.2')].map(isOpen), [false, true, true, true])
    second?.destroy()
    if (second) await once(second, 'close')
    assert.deepEqual([await open(), third].map(isOpen), [true, true])
  })
})
