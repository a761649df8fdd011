import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { openPki, PkiError } from './open-pki.ts'

const YEAR_MS = 365.25 * 24 * 3_600_000

function place(t: TestContext) {
  const parent = mkdtempSync(join(tmpdir(), 'deckhand-pki-'))
  t.after(() => rmSync(parent, { recursive: true }))
  return { folder: join(parent, 'pki'), clock: new FakeClock(), log: silentLogger }
}

describe('openPki()', () => {
  test('makes an authority for ten years and keys that only their owner can read', async (t) => {
    const { folder, ...deps } = place(t)
    const { authority, tokenKey } = await openPki(folder, deps)
    const { certificate } = authority
    assert.equal(certificate.ca, true)
    assert.equal(certificate.validFromDate.getTime(), deps.clock.now() - 5 * 60_000)
    assert.equal(certificate.validToDate.getTime(), deps.clock.now() + 10 * YEAR_MS)
    assert.equal(tokenKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
    const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777])
    assert.deepEqual(Object.fromEntries(modes), { 'ca.crt': 0o600, 'ca.pem': 0o600, 'service-account.key': 0o600 })
    assert.equal(statSync(folder).mode & 0o777, 0o700)
  })

  test('finds again what it made', async (t) => {
    const { folder, ...deps } = place(t)
    const first = await openPki(folder, deps)
    const second = await openPki(folder, deps)
    assert.equal(second.authority.pem, first.authority.pem)
    assert.ok(second.tokenKey.equals(first.tokenKey))
  })

  // Every state that a first start can be killed in.
  for (const lost of [['service-account.key'], ['service-account.key', 'ca.crt']]) {
    test(`completes a first start that was cut off before ${lost.join(' and ')}`, async (t) => {
      const { folder, ...deps } = place(t)
      const { authority } = await openPki(folder, deps)
      for (const name of lost) rmSync(join(folder, name))
      writeFileSync(join(folder, `${lost.at(-1)}.tmp`), 'half')
      assert.equal((await openPki(folder, deps)).authority.pem, authority.pem)
      assert.equal(readFileSync(join(folder, 'ca.crt'), 'utf8'), authority.pem)
    })
  }

  test('an authority that was half written was never there', async (t) => {
    const { folder, ...deps } = place(t)
    await openPki(folder, deps)
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    writeFileSync(join(folder, 'ca.pem.tmp'), 'half')
    assert.equal((await openPki(folder, deps)).authority.certificate.ca, true)
  })

  test('never makes a second authority for clients that trust the first', async (t) => {
    const { folder, ...deps } = place(t)
    await openPki(folder, deps)
    rmSync(join(folder, 'ca.pem'))
    await assert.rejects(
      openPki(folder, deps),
      /"ca.pem" is missing although "ca.crt" is there; put the file back .* remove the folder/,
    )
  })

  test('reports an authority that is damaged, and leaves it as it is', async (t) => {
    const { folder, ...deps } = place(t)
    await openPki(folder, deps)
    const path = join(folder, 'ca.pem')
    const damaged = readFileSync(path, 'utf8').slice(0, -120)
    writeFileSync(path, damaged)
    await assert.rejects(
      openPki(folder, deps),
      /Cannot use the authority ".*ca.pem": it has no private key; put the file back/,
    )
    assert.equal(readFileSync(path, 'utf8'), damaged)
  })

  test('reports a key that belongs to another certificate', async (t) => {
    const { folder, ...deps } = place(t)
    const other = place(t)
    await openPki(folder, deps)
    await openPki(other.folder, other)
    const [certificate] = readFileSync(join(folder, 'ca.pem'), 'utf8').split(/(?=-----BEGIN PRIVATE)/)
    const [, key] = readFileSync(join(other.folder, 'ca.pem'), 'utf8').split(/(?=-----BEGIN PRIVATE)/)
    writeFileSync(join(folder, 'ca.pem'), `${certificate}${key}`)
    await assert.rejects(openPki(folder, deps), /its key belongs to another certificate/)
  })

  test('reports an authority that has expired', async (t) => {
    const { folder, ...deps } = place(t)
    await openPki(folder, deps)
    await deps.clock.advance(10 * YEAR_MS)
    await assert.rejects(
      openPki(folder, deps),
      (error) => error instanceof PkiError && error.message.includes('it has expired at 2036'),
    )
  })

  test('reports a damaged key for tokens, and what its removal means', async (t) => {
    const { folder, ...deps } = place(t)
    await openPki(folder, deps)
    writeFileSync(join(folder, 'service-account.key'), 'nothing')
    await assert.rejects(
      openPki(folder, deps),
      /Cannot use the key ".*service-account.key": .*or remove it: a new key is made then/,
    )
  })
})
