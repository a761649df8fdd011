import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { selfSigned } from '../../../test/fixtures/self-signed.ts'
import { countAccess } from '../../../test/fakes/counted-access.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { loadFields, loadSettings } from '../../../test/fakes/load-settings.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { createAccess } from './create-access.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import type { KubeRequest } from '../../protocols/kube-api/kube-client.ts'

const { signal } = new AbortController()
const deps = { metrics: countAccess().metrics, clock: new FakeClock(), log: silentLogger, random: () => 0 }

function createRequest(headers: Readonly<Record<string, string>> = {}): IncomingMessage {
  return { headers, rawHeaders: [], method: 'GET', socket: {} } as unknown as IncomingMessage
}

test('createAccess() asks the API server who it is and what it may', async () => {
  const asked: string[] = []
  const client = {
    send<T>({ path }: KubeRequest): Promise<T> {
      asked.push(path)
      const status = path.endsWith('tokenreviews')
        ? { authenticated: true, user: { username: 'bot' } }
        : { allowed: false }
      return Promise.resolve({ status } as T)
    },
  }
  const { checkAccess } = await createAccess({ ...deps, settings: await loadFields({}), client }, signal)
  const none = await checkAccess(createRequest(), '/pods', signal)
  assert.deepEqual([none.refusal?.status, asked], [401, []])
  const headers = { 'x-remote-user': 'root', 'x-remote-group': 'system:masters', 'impersonate-user': 'root' }
  const posing = await checkAccess(createRequest(headers), '/pods', signal)
  assert.deepEqual([posing.refusal?.status, asked], [401, []], 'no header names a user, a kubelet has no front proxy')
  const bot = await checkAccess(createRequest({ authorization: 'Bearer t' }), '/pods', signal)
  assert.deepEqual([bot.refusal?.status, bot.caller?.name, asked.length], [403, 'bot', 3])
})

test('createAccess() does not start where no API server can be asked', async () => {
  const create = (settings: Settings) => createAccess({ ...deps, settings, client: undefined }, signal)
  await assert.rejects(create(await loadFields({})), /Cannot use webhook authentication/)
  const noTokens = { authentication: { webhook: { enabled: false } } }
  await assert.rejects(create(await loadFields(noTokens)), /Cannot use webhook authorization/)
  const { checkAccess } = await create(await loadSettings([]))
  assert.equal((await checkAccess(createRequest({ authorization: 'Bearer t' }), '/pods', signal)).refusal?.status, 401)
  await assert.rejects(
    create(await loadFields({ authentication: { x509: { clientCAFile: '/absent/ca' } } })),
    /Cannot use clientCAFile "\/absent\/ca"/,
  )
})

test('createAccess() follows the file of the authorities unless that is switched off', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'client-ca-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const clientCAFile = join(folder, 'ca.crt')
  writeFileSync(clientCAFile, selfSigned.cert)
  const authentication = { x509: { clientCAFile }, webhook: { enabled: false } }
  const fields = { authentication, authorization: { mode: 'AlwaysAllow' } }
  const create = async (featureGates: object) =>
    await createAccess({ ...deps, settings: await loadFields({ ...fields, featureGates }), client: undefined }, signal)
  const [on, off] = [await create({}), await create({ ReloadKubeletClientCAFile: false })]
  assert.deepEqual([typeof on.follow, typeof off.follow], ['function', 'undefined'])
  assert.equal(off.authorities?.current(), selfSigned.cert)
})
