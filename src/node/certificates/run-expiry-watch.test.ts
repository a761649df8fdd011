import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCertificate } from '../../../test/builders/create-certificate.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { CurrentCertificate } from './current-certificate.ts'
import { runExpiryWatch } from './run-expiry-watch.ts'

const MINUTE_MS = 60_000

async function start(isServerThere: boolean) {
  const clock = new FakeClock()
  const certificates = new CurrentCertificate(clock)
  const server = { isThere: isServerThere }
  const ends: string[] = []
  const controller = new AbortController()
  const running = runExpiryWatch(
    {
      certificates,
      isServerThere: () => server.isThere,
      giveUp: (error) => ends.push(error.message),
      clock,
      log: silentLogger,
    },
    controller.signal,
  )
  const stop = async () => {
    controller.abort(new Error('test ended'))
    await running.catch(() => {})
    assert.equal(clock.sleeping, 0)
  }
  const show = async (lifetimeMs: number) => certificates.replace(await createCertificate(clock.now(), lifetimeMs))
  return { clock, server, ends, show, stop }
}

describe('runExpiryWatch()', () => {
  test('gives up after five minutes without a certificate when the server is there', async () => {
    const { clock, ends, stop } = await start(true)
    await clock.advance(5 * MINUTE_MS)
    assert.deepEqual(ends, [])
    await clock.advance(10_000)
    assert.match(ends.join(), /^Cannot go on without a valid client certificate: there was none for 5 minutes/)
    await stop()
  })

  test('counts from the end of the certificate', async () => {
    const { clock, ends, show, stop } = await start(true)
    await show(60 * MINUTE_MS)
    await clock.advance(65 * MINUTE_MS)
    assert.deepEqual(ends, [])
    await clock.advance(20_000)
    assert.equal(ends.length, 1)
    await stop()
  })

  test('waits for a server that is away, however long', async () => {
    const { clock, ends, server, stop } = await start(false)
    await clock.advance(600 * MINUTE_MS)
    assert.deepEqual(ends, [])
    server.isThere = true
    await clock.advance(10_000)
    assert.equal(ends.length, 1)
    await stop()
  })

  test('a certificate that comes in time makes it good', async () => {
    const { clock, ends, show, stop } = await start(true)
    await clock.advance(4 * MINUTE_MS)
    await show(1000 * MINUTE_MS)
    await clock.advance(500 * MINUTE_MS)
    assert.deepEqual(ends, [])
    await stop()
  })
})
