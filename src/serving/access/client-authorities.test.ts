import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { selfSigned } from '../../../test/fixtures/self-signed.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { ClientAuthorities } from './client-authorities.ts'

test('ClientAuthorities takes a new file, and keeps the old one when that is no good', async () => {
  let text = selfSigned.cert
  const clock = new FakeClock()
  const readFile = () => Promise.resolve(Buffer.from(text))
  const authorities = await ClientAuthorities.load({ path: '/ca', readFile, clock, log: silentLogger })
  let changes = 0
  authorities.onChange(() => (changes += 1))
  const stop = new AbortController()
  const running = authorities.run(stop.signal)
  const after = async (next: string) => {
    text = next
    await clock.advance(30_000)
    return [changes, authorities.certificates.length]
  }
  assert.deepEqual(await after(selfSigned.cert), [0, 1])
  assert.deepEqual(await after('half wri'), [0, 1])
  assert.deepEqual(await after(`${selfSigned.cert}\n${selfSigned.cert}\n`), [1, 2])
  assert.equal(authorities.current(), text)
  stop.abort(new Error('done'))
  await assert.rejects(running, /done/)
  assert.equal(clock.sleeping, 0)
})

test('ClientAuthorities does not start with a file that holds none', async () => {
  const deps = { path: '/ca', clock: new FakeClock(), log: silentLogger }
  const load = (text: string) => ClientAuthorities.load({ ...deps, readFile: () => Promise.resolve(Buffer.from(text)) })
  await assert.rejects(load(''), /Cannot use clientCAFile "\/ca"/)
  await assert.rejects(
    load('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
    /Cannot use clientCAFile/,
  )
})
