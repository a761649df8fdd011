import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatPluginRequest, parsePluginAnswer } from './plugin-protocol.ts'

const V1 = 'credentialprovider.kubelet.k8s.io/v1'
const answer = (fields: object = {}) =>
  JSON.stringify({ apiVersion: V1, kind: 'CredentialProviderResponse', cacheKeyType: 'Registry', ...fields })

test('formatPluginRequest() asks about a repository', () => {
  assert.deepEqual(JSON.parse(formatPluginRequest(V1, 'r.example/a')), {
    apiVersion: V1,
    kind: 'CredentialProviderRequest',
    image: 'r.example/a',
  })
})

test('formatPluginRequest() shows the token and the annotations of a service account, if it has any', () => {
  const ask = (annotations: Record<string, string>) =>
    JSON.parse(formatPluginRequest(V1, 'r.example/a', { token: 'hush', annotations }))
  const request = {
    apiVersion: V1,
    kind: 'CredentialProviderRequest',
    image: 'r.example/a',
    serviceAccountToken: 'hush',
  }
  assert.deepEqual(ask({ 'r.example/role': 'puller' }), {
    ...request,
    serviceAccountAnnotations: { 'r.example/role': 'puller' },
  })
  assert.deepEqual(ask({}), request)
})

describe('parsePluginAnswer()', () => {
  const auth = { 'r.example': { username: 'me', password: 'hush' } }
  const logins = [{ location: 'r.example', value: { username: 'me', password: 'hush' } }]
  const rows: [what: string, fields: object, result: object][] = [
    ['logins', { auth }, { logins, cacheKeyType: 'Registry', cacheMs: undefined }],
    ['a duration', { auth, cacheDuration: '1m30s' }, { logins, cacheKeyType: 'Registry', cacheMs: 90_000 }],
    ['the duration 0', { auth, cacheDuration: '0s' }, { logins, cacheKeyType: 'Registry', cacheMs: 0 }],
    ['no logins', { cacheKeyType: 'Global' }, { logins: [], cacheKeyType: 'Global', cacheMs: undefined }],
    ['null', { cacheKeyType: 'Image', auth: null }, { logins: [], cacheKeyType: 'Image', cacheMs: undefined }],
  ]
  for (const [what, fields, result] of rows) {
    test(`reads ${what}`, () => assert.deepEqual(parsePluginAnswer(answer(fields), V1), result))
  }

  const refused: [text: string, message: RegExp][] = [
    ['hush', /^the answer is not JSON$/],
    ['"hush"', /not a JSON object/],
    [answer({ kind: 'hush' }), /kind is not/],
    [answer({ apiVersion: `${V1}beta1` }), /apiVersion is not credentialprovider.kubelet.k8s.io\/v1,/],
    [answer({ cacheKeyType: 'hush' }), /cacheKeyType is none of/],
    [answer({ cacheDuration: 'hush' }), /cacheDuration is not/],
    [answer({ cacheDuration: 5 }), /cacheDuration is not/],
    [answer({ auth: ['hush'] }), /auth is not an object/],
    [answer({ auth: { r: { password: ['hush'] } } }), /auth of "r" is not/],
    [answer({ auth: { r: 'hush' } }), /auth of "r" is not/],
  ]
  for (const [text, message] of refused) {
    test(`refuses ${text} without quoting it`, () => {
      assert.throws(
        () => parsePluginAnswer(text, V1),
        (error: Error) => message.test(error.message) && !error.message.includes('hush'),
      )
    })
  }
})
