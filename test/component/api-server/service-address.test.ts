import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectPlain, createServer } from 'node:net'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { startSecuredApi } from './start-secured-api.ts'

// Port 443 is for root alone.
const skip = process.getuid?.() !== 0

test('the API is at the address of its service as soon as another program leaves the port', { skip }, async (t) => {
  const other = createServer((socket) => socket.end('other'))
  other.listen(443, '127.77.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const api = await startSecuredApi(t, undefined, { serviceRange: '127.77.0.0/16', hasServiceAddress: true })
  assert.equal(await text(connectPlain(443, '127.77.0.1')), 'other')
  other.close()
  // No endpoint can have an address of loopback, so that of the API cannot be written here, which must not end it.
  for (let tries = 0; !(await isServed(api.authorityPem)); tries += 1) {
    assert.ok(tries < 100, 'it does not come')
    await sleep(100)
  }
  const wildcard = createServer()
  t.after(() => wildcard.close())
  wildcard.listen({ port: 443, reusePort: true })
  await once(wildcard, 'listening')
  await sleep(2500)
  assert.equal((await api.call(api.admin, 'GET', '/api/v1/namespaces/default')).status, 200)
  assert.ok(await isServed(api.authorityPem))
})

async function isServed(ca: string): Promise<boolean> {
  const socket = connect({ port: 443, host: '127.77.0.1', ca, servername: 'localhost' })
  try {
    await once(socket, 'secureConnect')
    return socket.authorized
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
