import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { serveRequests } from './serve-requests.ts'

const { signal } = new AbortController()

function createWorld() {
  const server = new EventEmitter()
  const began: string[] = []
  const requests = {
    handle: async ({ url = '' }: { url?: string | undefined }) => void began.push(url),
    upgrade: async () => {},
  }
  serveRequests(server as never, requests, signal)
  const ask = (socket: object, url: string, response = { destroyed: false }) =>
    server.emit('request', { socket, url }, response)
  return { began, ask }
}

describe('serveRequests()', () => {
  test('answers a request at once, and the next of the same connection in a later turn', async () => {
    const { began, ask } = createWorld()
    const [greedy, other] = [{}, {}]
    for (const number of [1, 2, 3, 4]) ask(greedy, `greedy ${number}`)
    ask(other, 'other')
    assert.deepEqual(began, ['greedy 1', 'other'])
    await setImmediate()
    await setImmediate()
    assert.ok(began.length < 6)
    while (began.length < 5) await setImmediate()
    assert.deepEqual(began.slice(2), ['greedy 2', 'greedy 3', 'greedy 4'])
    ask(greedy, 'greedy 5')
    assert.equal(began.at(-1), 'greedy 5')
  })

  test('does not start what no client waits for any more', async () => {
    const { began, ask } = createWorld()
    const socket = {}
    ask(socket, 'one')
    ask(socket, 'two', { destroyed: true })
    ask(socket, 'three')
    while (began.length < 2) await setImmediate()
    assert.deepEqual(began, ['one', 'three'])
  })
})
