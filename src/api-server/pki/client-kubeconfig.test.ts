import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { ensureKubeconfig } from './client-kubeconfig.ts'
import { openPki } from './open-pki.ts'

const SERVER = 'https://127.0.0.1:6443'
const DAY_MS = 24 * 3_600_000

async function place(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-kubeconfig-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const deps = { clock: new FakeClock(), log: silentLogger }
  const pki = await openPki(join(folder, 'pki'), deps)
  const identity = { path: join(folder, 'admin.kubeconfig'), user: 'kubernetes-admin', groups: ['system:masters'] }
  const ensure = async (change: Partial<typeof identity> = {}, server = SERVER) => {
    await ensureKubeconfig(pki, { ...identity, ...change }, server, deps)
    return readFileSync(identity.path, 'utf8')
  }
  return { folder, path: identity.path, ensure, clock: deps.clock }
}

describe('ensureKubeconfig()', () => {
  test('writes a file for its owner alone, with everything in it', async (t) => {
    const { path, ensure } = await place(t)
    const text = await ensure()
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.match(text, /server: https:\/\/127\.0\.0\.1:6443\n/)
    const data = /client-certificate-data: (\S+)/.exec(text)?.[1] ?? ''
    const { subject } = new X509Certificate(Buffer.from(data, 'base64'))
    assert.equal(subject, 'O=system:masters\nCN=kubernetes-admin')
  })

  test('leaves a good file alone, whatever others have added', async (t) => {
    const { path, ensure, folder } = await place(t)
    const changed = (await ensure()).replace('    user: deckhand\n', '    user: deckhand\n    namespace: mine\n')
    writeFileSync(path, changed)
    assert.equal(await ensure(), changed)
    assert.deepEqual(readdirSync(folder).toSorted(), ['admin.kubeconfig', 'pki'])
  })

  const stale: readonly (readonly [
    name: string,
    change: Parameters<Awaited<ReturnType<typeof place>>['ensure']>,
    days: number,
  ])[] = [
    ['another server', [{}, 'https://127.0.0.1:7443'], 0],
    ['another user', [{ user: 'other' }], 0],
    ['other groups', [{ groups: [] }], 0],
    ['an end that is near', [{}], 300],
  ]
  for (const [name, change, days] of stale) {
    test(`writes it again for ${name}, without a copy of what was its own`, async (t) => {
      const { ensure, folder, clock } = await place(t)
      const before = await ensure()
      await clock.advance(days * DAY_MS)
      assert.notEqual(await ensure(...change), before)
      assert.deepEqual(readdirSync(folder).toSorted(), ['admin.kubeconfig', 'pki'])
    })
  }

  for (const text of ['', 'apiVersion: v1\nkind: Config\nclusters: []\n', '\0\0']) {
    test(`sets aside what others wrote: ${JSON.stringify(text.slice(0, 12))}`, async (t) => {
      const { path, ensure, folder } = await place(t)
      writeFileSync(path, text)
      chmodSync(path, 0o644)
      assert.match(await ensure(), /client-key-data/)
      const old = readdirSync(folder).find((name) => name.startsWith('admin.kubeconfig.old-')) ?? ''
      assert.equal(readFileSync(join(folder, old), 'utf8'), text)
      assert.equal(statSync(path).mode & 0o777, 0o600)
    })
  }
})
