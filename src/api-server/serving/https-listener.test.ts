import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { connect } from 'node:tls'
import { silentLogger } from '../../../test/fakes/silent-logger.ts'
import { systemClock } from '../../async/clock.ts'
import { ANONYMOUS } from '../auth/user-names.ts'
import { openPki } from '../pki/open-pki.ts'
import { ensureServingCertificate } from '../pki/serving-certificate.ts'
import { textResponse } from '../rest/api-request.ts'
import { HttpsListener } from './https-listener.ts'

describe('HttpsListener', () => {
  test('shows another certificate after a reload, without an end', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-listener-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const deps = { clock: systemClock, log: silentLogger }
    const pki = await openPki(folder, deps)
    const [first, second] = [
      await ensureServingCertificate(pki, [], deps),
      await ensureServingCertificate(pki, ['b'], deps),
    ]
    const listener = new HttpsListener({
      ...deps,
      api: { handle: () => Promise.resolve(textResponse(200, '{}')) },
      authenticate: () => ANONYMOUS,
      upgrade: () => Promise.resolve(),
      authorityPem: pki.authority.pem,
      certificate: first,
    })
    const port = await listener.listen('127.0.0.1', 0)
    t.after(() => listener.close())
    const look = async () => {
      const socket = connect({ port, host: '127.0.0.1', ca: pki.authority.pem, servername: 'localhost' })
      await once(socket, 'secureConnect')
      const serial = socket.getPeerX509Certificate()?.serialNumber
      socket.destroy()
      return serial
    }
    assert.equal(await look(), first.certificate.serialNumber)
    listener.reload(second)
    assert.equal(await look(), second.certificate.serialNumber)
  })

  test('says which address is taken', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-listener-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const deps = { clock: systemClock, log: silentLogger }
    const pki = await openPki(folder, deps)
    const certificate = await ensureServingCertificate(pki, [], deps)
    const api = { handle: () => Promise.resolve(textResponse(200, '{}')) }
    const create = () =>
      new HttpsListener({
        ...deps,
        api,
        authenticate: () => ANONYMOUS,
        upgrade: () => Promise.resolve(),
        authorityPem: pki.authority.pem,
        certificate,
      })
    const [one, two] = [create(), create()]
    const port = await one.listen('127.0.0.1', 0)
    t.after(() => one.close())
    await assert.rejects(two.listen('127.0.0.1', port), new RegExp(`Cannot serve the API on 127.0.0.1:${port}`))
  })
})
