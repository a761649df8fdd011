import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseDockerConfig } from './parse-docker-config.ts'

const encode = (text: string) => Buffer.from(text).toString('base64')

describe('parseDockerConfig()', () => {
  const login = { username: 'me', password: 'pa:ss' }
  const rows: [what: string, entry: unknown, result: unknown][] = [
    ['name and password', { username: 'me', password: 'pa:ss' }, login],
    ['auth with padding', { auth: encode('me:pa:ss') }, login],
    ['auth without padding', { auth: encode('me:pa:ss').replace(/=+$/, '') }, login],
    ['auth with space around it', { auth: ` ${encode('me:pa:ss')}\n` }, login],
    ['auth that wins over the rest', { username: 'x', password: 'y', auth: encode('me:pa:ss') }, login],
    ['fields of other tools', { ...login, email: 'x', identitytoken: 'y' }, login],
    ['an entry without a login', {}, { username: '', password: '' }],
    ['auth without a colon', { auth: encode('mepass') }, 'expected auth to be the base64 of username:password'],
    ['auth that is not base64', { auth: '***' }, 'expected auth to be the base64 of username:password'],
    ['a number', 5, 'expected an object'],
    ['a password that is no text', { password: 5 }, 'expected username, password and auth to be texts'],
  ]
  for (const [what, entry, result] of rows) {
    test(`reads ${what}`, () => {
      const { logins, problems } = parseDockerConfig(JSON.stringify({ auths: { 'r.example': entry } }), 'config.json')
      assert.deepEqual(
        [logins, problems],
        typeof result === 'string' ? [[], [`r.example: ${result}`]] : [[{ location: 'r.example', value: result }], []],
      )
    })
  }

  test('reads the older form', () => {
    const { logins } = parseDockerConfig(JSON.stringify({ a: login, __proto__x: login }), '.dockercfg')
    assert.deepEqual(
      logins.map(({ location }) => location),
      ['a', '__proto__x'],
    )
  })

  test('takes a configuration without logins', () => {
    assert.deepEqual(parseDockerConfig('{"credHelpers": {}}', 'config.json'), { logins: [], problems: [] })
  })

  test('takes a key as any other, whatever its name', () => {
    const { logins } = parseDockerConfig('{"auths": {"__proto__": {"username": "me"}}}', 'config.json')
    assert.deepEqual(logins, [{ location: '__proto__', value: { username: 'me', password: '' } }])
  })

  const refused: [text: string, message: string][] = [
    ['{"auths": {"r": {"password": "hush"', 'not JSON'],
    ['[]', 'not a JSON object'],
    ['{"auths": []}', '"auths" is not an object, expected one with a registry a key'],
  ]
  for (const [text, message] of refused) {
    test(`refuses ${text} without quoting it`, () => {
      assert.throws(() => parseDockerConfig(text, 'config.json'), { name: 'DockerConfigError', message })
    })
  }
})
