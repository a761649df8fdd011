import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { parsePodUid } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { hashLogin } from './hash-login.ts'
import { ImageCredentials } from './image-credentials.ts'
import type { PullSecret } from './pull-secrets.ts'

const never = new AbortController().signal
const login = (username: string) => ({ username, password: 'p' })
const entry = (location: string, username: string) => ({ location, value: login(username) })
const account = { uid: 'u', namespace: 'team', name: 'robot' }
const given = (location: string, username: string, of?: typeof account) => ({
  location,
  value: { login: login(username), secret: undefined, account: of },
})
const secret = (type: string, key: string, value: object | string): PullSecret => ({
  uid: `uid-${key}`,
  type,
  data: new Map([[key, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))]]),
})

function makePod(secrets: readonly string[]): Pod {
  return {
    metadata: { name: 'web', namespace: 'team', uid: parsePodUid('a') },
    spec: { containers: [], imagePullSecrets: secrets.map((name) => ({ name })) },
  }
}

describe('ImageCredentials', () => {
  const secrets: Record<string, PullSecret> = {
    json: secret('kubernetes.io/dockerconfigjson', '.dockerconfigjson', { auths: { 'r.example': login('json') } }),
    old: secret('kubernetes.io/dockercfg', '.dockercfg', { 'r.example/team': login('old') }),
    opaque: secret('Opaque', '.dockerconfigjson', { auths: { 'r.example': login('opaque') } }),
    wrongKey: secret('kubernetes.io/dockerconfigjson', '.dockercfg', { 'r.example': login('wrong') }),
    broken: secret('kubernetes.io/dockercfg', '.dockercfg', 'hush'),
    same: secret('kubernetes.io/dockercfg', '.dockercfg', { 'r.example': login('node') }),
  }
  const asked: string[] = []
  const warnings: unknown[] = []
  const credentials = new ImageCredentials({
    findSecret: async ({ namespace, name }) => {
      asked.push(`${namespace}/${name}`)
      return secrets[name]
    },
    node: { logins: async () => [entry('r.example', 'node'), entry('q.example', 'other')] },
    plugins: [
      { credentials: async (_, repository) => [given(repository, 'first plugin')] },
      { credentials: async () => [given('*.example', 'second plugin', account), given('q.example', 'not this')] },
    ],
    log: { ...silentLogger, warn: (...line) => void warnings.push(line) },
  })
  const find = async (names: readonly string[], repository = 'r.example/team/web') => {
    const found = await credentials.find(makePod(names), repository, never)
    const candidates = found.candidates.map((candidate) => [candidate.login.username, candidate.secret?.name])
    return { candidates, missing: found.missingSecrets }
  }
  const shared = [
    ['node', undefined],
    ['first plugin', undefined],
    ['second plugin', undefined],
  ]

  test('takes the pod’s secrets as one keyring, then the node’s, then each plugin’s', async () => {
    const found = await find(['json', 'old'])
    assert.deepEqual(found, { candidates: [['old', 'old'], ['json', 'json'], ...shared], missing: [] })
    assert.deepEqual(asked, ['team/json', 'team/old'])
  })

  test('names what is missing, and goes on', async () => {
    const found = await find(['nowhere', '', 'json', 'gone'])
    assert.deepEqual(found, { candidates: [['json', 'json'], ...shared], missing: ['nowhere', 'gone'] })
  })

  test('leaves out secrets of another type or without their key', async () => {
    assert.deepEqual(await find(['opaque', 'wrongKey']), { candidates: shared, missing: [] })
    assert.deepEqual(warnings, [])
  })

  test('reports a secret that makes no sense without showing it', async () => {
    assert.deepEqual(await find(['broken']), { candidates: shared, missing: [] })
    assert.equal(warnings.length, 1)
    assert.ok(!JSON.stringify(warnings).includes('hush'))
  })

  test('tries a login once, as that of who has it first', async () => {
    assert.deepEqual((await find(['same'])).candidates, [['node', 'same'], ...shared.slice(1)])
  })

  test('says which secret or which service account a login came from', async () => {
    const { candidates } = await credentials.find(makePod(['json']), 'r.example/a', never)
    assert.deepEqual(candidates[0]?.secret, { uid: 'uid-.dockerconfigjson', namespace: 'team', name: 'json' })
    assert.deepEqual(
      candidates.map((candidate) => candidate.account),
      [undefined, undefined, undefined, account],
    )
  })
})

test('hashLogin() distinguishes logins and is the hash of their JSON', () => {
  const hashes = [login('a'), login('b'), { username: 'a', password: '' }, { username: '', password: '' }].map(
    hashLogin,
  )
  assert.equal(new Set(hashes).size, 4)
  // sha256 of {}
  assert.equal(hashes[3], '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')
})
