import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { askSpeaker } from './speaks-docker.ts'

const signal = new AbortController().signal

async function ask(answer: (socket: Socket) => void): Promise<string> {
  const path = join(makeTemporaryFolder(), 'runtime.sock')
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  }).listen(path)
  await once(server, 'listening')
  try {
    return await askSpeaker(path, signal)
  } finally {
    server.close()
  }
}

describe('askSpeaker()', () => {
  test('knows Docker by a header of its answer, in however many pieces', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK'
    assert.equal(await ask((socket) => socket.end(answer)), 'docker')
    const inPieces = async (socket: Socket) => {
      for (const piece of [answer.slice(0, 3), answer.slice(3, 22), answer.slice(22)]) {
        socket.write(piece)
        await sleep(5)
      }
    }
    assert.equal(await ask((socket) => void inPieces(socket)), 'docker')
  })

  test('takes everything else for a CRI runtime', async () => {
    const rows: readonly [what: string, answer: (socket: Socket) => void][] = [
      ['frames of HTTP/2', (socket) => socket.write(Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0]))],
      ['another HTTP server', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\napi-version: 1')],
      ['headers without end', (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(4000)}`)],
      ['the end of the connection', (socket) => socket.end()],
      ['a connection that breaks', (socket) => socket.destroy()],
    ]
    for (const [what, answer] of rows) assert.equal(await ask(answer), 'other', what)
  })

  test('says when there is nothing yet, and ends with its signal', async () => {
    assert.equal(await askSpeaker(join(makeTemporaryFolder(), 'no.sock'), signal), 'nothing')
    const stop = new AbortController()
    const path = join(makeTemporaryFolder(), 'silent.sock')
    const server = createServer(() => stop.abort(new Error('enough'))).listen(path)
    await once(server, 'listening')
    await assert.rejects(askSpeaker(path, stop.signal), /enough/)
    server.close()
  })
})
