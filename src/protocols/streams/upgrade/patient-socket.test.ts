import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { describe, test } from 'node:test'
import { PatientSocket } from './patient-socket.ts'
import { readChunks } from '../read-chunks.ts'

describe('PatientSocket', () => {
  test('hears what was said by one who then closed over unread bytes', async (t) => {
    const accepted = Promise.withResolvers<Socket>()
    const server = createServer({ pauseOnConnect: true }, accepted.resolve).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const socket = new PatientSocket().connect({ host: '127.0.0.1', port })
    socket.on('error', () => {})
    await once(socket, 'connect')
    const other = await accepted.promise
    socket.write('unread')
    other.write('the answer', () => other.resetAndDestroy())
    await once(other, 'close')
    // In the turn in which it learns that nobody reads, before it has read itself.
    for (let count = 0; count < 100; count += 1) socket.write(Buffer.alloc(1000))
    let heard = ''
    try {
      for await (const chunk of readChunks(socket)) heard += chunk.toString()
    } catch {
      // A reset says that this was all.
    }
    assert.equal(heard, 'the answer')
    socket.destroy()
  })
})
