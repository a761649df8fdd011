import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findHeaderToken, findSubprotocolToken, withoutToken } from './find-bearer-token.ts'

test('findHeaderToken() reads a bearer token and nothing else', () => {
  const rows: readonly (readonly [string | undefined, string | undefined])[] = [
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['  Bearer abc  ', 'abc'],
    ['Bearer', undefined],
    ['Bearer  abc', undefined],
    ['Basic abc', undefined],
    ['', undefined],
    [undefined, undefined],
  ]
  for (const [authorization, token] of rows)
    assert.deepEqual(
      findHeaderToken(authorization === undefined ? {} : { authorization }),
      token === undefined ? { kind: 'absent' } : { kind: 'found', token },
      String(authorization),
    )
})

test('findSubprotocolToken() reads a token among the subprotocols of a websocket, which needs another besides it', () => {
  const prefix = 'base64url.bearer.authorization.k8s.io.'
  const token = `${prefix}${Buffer.from('abc?~').toString('base64url')}`
  const rows: readonly (readonly [string, string, string | undefined])[] = [
    ['websocket', `${token}, v4.channel.k8s.io`, 'abc?~'],
    ['WebSocket', `v4.channel.k8s.io,${token}`, 'abc?~'],
    ['SPDY/3.1', `${token}, v4.channel.k8s.io`, undefined],
    ['websocket', 'v4.channel.k8s.io', undefined],
    ['websocket', token, 'broken'],
    ['websocket', `${token}, ${token}, x`, 'broken'],
    ['websocket', `${prefix}, x`, 'broken'],
    ['websocket', `${prefix}a+/=, x`, 'broken'],
  ]
  for (const [upgrade, protocols, expected] of rows) {
    const found = findSubprotocolToken({ upgrade, 'sec-websocket-protocol': protocols })
    const shown = found.kind === 'found' ? found.token : found.kind === 'broken' ? 'broken' : undefined
    assert.equal(shown, expected, protocols)
  }
  assert.equal(withoutToken({ 'sec-websocket-protocol': `a, ${token}, b` }), 'a, b')
})
