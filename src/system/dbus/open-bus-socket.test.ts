import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { openBusSocket } from './open-bus-socket.ts'
import { parseBusAddress, systemBusAddress } from './parse-bus-address.ts'

const never = new AbortController().signal

/** A server which answers everything with this; undefined: closes. */
async function serve(t: TestContext, answer: string | undefined): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-bus-'))
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => (answer === undefined ? socket.destroy() : socket.write(answer)))
  })
  t.after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  await new Promise<void>((resolve) => server.listen(join(folder, 'bus'), resolve))
  return `unix:path=${join(folder, 'bus')}`
}

describe('openBusSocket()', () => {
  for (const [what, answer, problem] of [
    ['a refusal', 'REJECTED EXTERNAL\r\n', /answered "REJECTED EXTERNAL", expected OK/],
    ['an answer without end', 'x'.repeat(2000), /the answer has no end/],
    ['a closed connection', undefined, /the connection was closed/],
  ] as const) {
    test(`${what} is an error`, async (t) => {
      await assert.rejects(openBusSocket(await serve(t, answer), never), {
        name: 'DbusConnectionError',
        message: problem,
      })
    })
  }

  test('a server that says nothing is left when that is wanted', async (t) => {
    const leave = new AbortController()
    const opening = assert.rejects(openBusSocket(await serve(t, ''), leave.signal), /enough/)
    leave.abort(new Error('enough'))
    await opening
  })

  test('the next address is tried when nothing listens at the first', async (t) => {
    const socket = await openBusSocket(`unix:path=/nowhere/bus;${await serve(t, 'OK 1234\r\n')}`, never)
    socket.destroy()
  })
})

describe('parseBusAddress()', () => {
  for (const [address, expected] of [
    ['unix:path=/run/dbus/system_bus_socket', ['/run/dbus/system_bus_socket']],
    ['unix:path=/a%20b,guid=12', ['/a b']],
    ['tcp:host=localhost,port=1;unix:abstract=/x', ['\0/x']],
  ] as const) {
    test(address, () => assert.deepEqual(parseBusAddress(address), expected))
  }

  test('an address without a unix socket is refused', () => {
    assert.throws(() => parseBusAddress('tcp:host=localhost'), /Cannot use bus address "tcp:host=localhost"/)
  })

  test('the system bus is where the environment says, or where it always is', () => {
    assert.equal(systemBusAddress({ DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/x' }), 'unix:path=/x')
    assert.equal(systemBusAddress({}), 'unix:path=/run/dbus/system_bus_socket')
  })
})
