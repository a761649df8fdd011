import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { countAccess } from '../../../test/fakes/counted-access.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { createClientAuthenticator } from './create-client-authenticator.ts'
import { invalidCredential, validCredential } from './credential-result.ts'

const { signal } = new AbortController()
const TOKEN = `base64url.bearer.authorization.k8s.io.${Buffer.from('good').toString('base64url')}`

function createRequest(headers: Readonly<Record<string, string>>): IncomingMessage {
  return {
    headers: { ...headers },
    rawHeaders: Object.entries(headers).flat(),
    socket: { remoteAddress: '::1' },
  } as unknown as IncomingMessage
}

function create(anonymous: boolean, withTokens = true) {
  const tokens = {
    authenticate(token: string) {
      if (token === 'unknown') return Promise.reject(new Error('the API server is gone'))
      return Promise.resolve(token === 'good' ? validCredential({ name: 'bot', groups: [] }) : invalidCredential('no'))
    },
  }
  const { metrics } = countAccess()
  const deps = { authorities: undefined, readsUid: true, metrics, clock: new FakeClock(), log: silentLogger, anonymous }
  return createClientAuthenticator({ ...deps, tokens: withTokens ? tokens : undefined })
}

test('createClientAuthenticator() makes no client anonymous because of bad credentials', async () => {
  const rows: readonly (readonly [Readonly<Record<string, string>>, boolean, string | undefined])[] = [
    [{}, true, 'system:anonymous'],
    [{}, false, undefined],
    [{ authorization: 'Bearer good' }, false, 'bot'],
    [{ authorization: 'Bearer bad' }, true, undefined],
    [{ authorization: 'Bearer unknown' }, true, undefined],
    [{ authorization: 'Basic good' }, true, 'system:anonymous'],
    [{ upgrade: 'websocket', 'sec-websocket-protocol': `x, ${TOKEN}` }, false, 'bot'],
    [{ upgrade: 'websocket', 'sec-websocket-protocol': TOKEN }, true, undefined],
  ]
  for (const [headers, anonymous, name] of rows)
    assert.equal((await create(anonymous)(createRequest(headers), signal))?.name, name, JSON.stringify(headers))
})

test('createClientAuthenticator() ignores tokens where no API server can check them', async () => {
  const request = createRequest({ authorization: 'Bearer bad' })
  assert.equal((await create(true, false)(request, signal))?.name, 'system:anonymous')
})

test('createClientAuthenticator() takes the token out of the request', async () => {
  const protocols = `x, ${TOKEN}`
  const request = createRequest({
    Host: 'n',
    authorization: 'Bearer good',
    upgrade: 'websocket',
    'sec-websocket-protocol': protocols,
  })
  await create(false)(request, signal)
  const { headers, rawHeaders } = request
  assert.deepEqual(headers, { Host: 'n', upgrade: 'websocket', 'sec-websocket-protocol': 'x' })
  assert.deepEqual(rawHeaders, ['Host', 'n', 'upgrade', 'websocket', 'sec-websocket-protocol', 'x'])
})
