import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { createCertificate } from '../../../../test/builders/create-certificate.ts'
import { selfSigned } from '../../../../test/fixtures/self-signed.ts'
import type { ProcessRequest, ProcessResult } from '../../../system/processes/run-process.ts'
import type { CredentialPluginCall, PluginCertificate } from '../client-metrics.ts'
import { createCredentials } from './create-credentials.ts'
import type { ExecPlugin, KubeconfigUser } from './kubeconfig.ts'

const never = new AbortController().signal
const nobody: KubeconfigUser = { certificate: undefined, login: { kind: 'none' }, impersonate: {} }
const plugin: ExecPlugin = {
  apiVersion: 'client.authentication.k8s.io/v1',
  command: '/bin/get-token',
  args: ['--for', 'a b'],
  env: { MODE: 'x' },
  installHint: 'Install get-token.',
  provideClusterInfo: true,
}

function setUp(user: Partial<KubeconfigUser>) {
  const clock = new FakeClock()
  const files = new Map<string, string>()
  const runs: ProcessRequest[] = []
  const calls: CredentialPluginCall[] = []
  const certificates: PluginCertificate[] = []
  let answer: ProcessResult = { exitCode: 0, stdout: '', stderr: '' }
  const credentials = createCredentials(
    { ...nobody, ...user },
    {
      files: {
        async readFile(path) {
          const text = files.get(path)
          if (text === undefined) throw new Error(`no ${path}`)
          return Buffer.from(text)
        },
      },
      async run(request) {
        runs.push(request)
        return answer
      },
      onPluginCall: (call) => void calls.push(call),
      onPluginCertificate: (given) => void certificates.push(given),
      clusterInfo: async () => ({ server: 'https://api' }),
      environment: { PATH: '/bin' },
      signal: never,
      clock,
      log: silentLogger,
    },
  )
  const headers = async () => (await credentials.current(never)).headers
  const say = (status: object | string, exitCode = 0) => {
    const stdout =
      typeof status === 'string'
        ? status
        : JSON.stringify({ apiVersion: plugin.apiVersion, kind: 'ExecCredential', status })
    answer = { exitCode, stdout, stderr: 'secret words' }
  }
  return { clock, files, runs, calls, certificates, credentials, headers, say }
}

describe('createCredentials()', () => {
  const rows: readonly [string, Partial<KubeconfigUser>, Readonly<Record<string, string>>][] = [
    ['nobody', {}, {}],
    ['a token', { login: { kind: 'token', token: 't' } }, { authorization: 'Bearer t' }],
    ['a name', { login: { kind: 'basic', username: 'a', password: 'b' } }, { authorization: 'Basic YTpi' }],
    ['someone else', { impersonate: { 'impersonate-user': 'x' } }, { 'impersonate-user': 'x' }],
  ]
  for (const [name, user, expected] of rows) {
    test(`shows ${name}, and has nothing else when the server does not know it`, async () => {
      const { credentials } = setUp(user)
      const used = await credentials.current(never)
      assert.deepEqual(used, { certificate: undefined, headers: expected })
      assert.equal(await credentials.onUnauthorized(used, never), false)
    })
  }

  test('reads a token file again after a minute, and at once when the server does not know the token', async () => {
    const { clock, files, credentials, headers } = setUp({
      login: { kind: 'tokenFile', path: '/token', fallback: undefined },
    })
    await assert.rejects(headers(), /no \/token/)
    files.set('/token', 'one\n')
    assert.deepEqual(await headers(), { authorization: 'Bearer one' })
    files.set('/token', 'two')
    assert.deepEqual(await headers(), { authorization: 'Bearer one' })
    await clock.advance(60_000)
    assert.deepEqual(await headers(), { authorization: 'Bearer two' })
    files.set('/token', 'three')
    assert.equal(await credentials.onUnauthorized(await credentials.current(never), never), true)
    assert.deepEqual(await headers(), { authorization: 'Bearer three' })
    // A file that is away for a moment takes nothing away.
    files.delete('/token')
    await clock.advance(60_000)
    assert.deepEqual(await headers(), { authorization: 'Bearer three' })
  })

  test('takes the token beside a token file that cannot be read', async () => {
    const { headers } = setUp({ login: { kind: 'tokenFile', path: '/token', fallback: 'plan-b' } })
    assert.deepEqual(await headers(), { authorization: 'Bearer plan-b' })
  })

  test('takes a new certificate from its files, once it fits its key', async () => {
    const source = { kind: 'file', path: '/pem' } as const
    const { clock, files, credentials } = setUp({ certificate: { certificate: source, key: source } })
    const good = `${selfSigned.cert}\n${selfSigned.key}`
    files.set('/pem', selfSigned.cert)
    await assert.rejects(credentials.current(never), /it and its key do not fit/)
    files.set('/pem', good)
    await clock.advance(60_000)
    const first = await credentials.current(never)
    assert.deepEqual(first.certificate, { certificatePem: good, keyPem: good })
    files.set('/pem', selfSigned.cert)
    await clock.advance(60_000)
    assert.deepEqual(await credentials.current(never), first)
    files.set('/pem', `${good}\n`)
    assert.equal((await credentials.current(never)).certificate?.keyPem, `${good}\n`)
  })

  test('reports the certificate of a program, and how old the one before it was', async () => {
    const { clock, certificates, headers, say } = setUp({ login: { kind: 'exec', plugin } })
    const answer = (clientCertificateData: string) => {
      const expirationTimestamp = new Date(clock.now() + 1000).toISOString()
      say({ clientCertificateData, clientKeyData: 'key', expirationTimestamp })
    }
    const [first, second] = [
      await createCertificate(clock.now(), 60_000),
      await createCertificate(clock.now() + 5000, 60_000),
    ]
    answer(first.certificatePem)
    await headers()
    await clock.advance(10_000)
    answer(second.certificatePem)
    await headers()
    await clock.advance(10_000)
    answer(second.certificatePem)
    await headers()
    assert.deepEqual(
      certificates.map(({ replacedAgeSeconds }) => replacedAgeSeconds),
      // They begin five minutes before they are made.
      [undefined, 310],
    )
    assert.ok(certificates.every(({ expiresAt }) => expiresAt > clock.now()))
  })

  test('runs a program without a shell, passes it the cluster, and keeps its answer until that ends', async () => {
    const { clock, runs, calls, headers, say } = setUp({ login: { kind: 'exec', plugin } })
    say({ token: 't1', expirationTimestamp: new Date(clock.now() + 5000).toISOString() })
    const [one, two] = await Promise.all([headers(), headers()])
    assert.deepEqual([one, two], [{ authorization: 'Bearer t1' }, { authorization: 'Bearer t1' }])
    const [run] = runs
    assert.deepEqual(run?.argv, ['/bin/get-token', '--for', 'a b'])
    assert.deepEqual(calls, [{ status: 'no_error', code: 0 }])
    const { KUBERNETES_EXEC_INFO: info = '', ...environment } = run.environment ?? {}
    assert.deepEqual(environment, { PATH: '/bin', MODE: 'x' })
    assert.deepEqual(JSON.parse(info), {
      apiVersion: plugin.apiVersion,
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: 'https://api' } },
    })
    say({ token: 't2' })
    await clock.advance(4999)
    assert.deepEqual(await headers(), { authorization: 'Bearer t1' })
    await clock.advance(1)
    assert.deepEqual(await headers(), { authorization: 'Bearer t2' })
    await clock.advance(1e9)
    await headers()
    assert.equal(runs.length, 2)
  })

  test('runs a program again when the server does not know its answer, but not for each request', async () => {
    const { clock, runs, credentials, say } = setUp({ login: { kind: 'exec', plugin } })
    say({ token: 't1' })
    const used = await credentials.current(never)
    assert.equal(await credentials.onUnauthorized(used, never), false)
    assert.equal(await credentials.onUnauthorized(used, never), false)
    assert.equal(runs.length, 2)
    await clock.advance(10_000)
    say({ clientCertificateData: 'C', clientKeyData: 'K' })
    assert.equal(await credentials.onUnauthorized(used, never), true)
    assert.deepEqual(await credentials.current(never), {
      certificate: { certificatePem: 'C', keyPem: 'K' },
      headers: {},
    })
  })

  const answers: readonly [string, object | string, number, string][] = [
    ['no JSON', 'token: t', 0, 'its answer is not JSON'],
    ['another kind', '{"kind":"Pod"}', 0, 'the kind of its answer is not ExecCredential'],
    [
      'another version',
      '{"kind":"ExecCredential","apiVersion":"v1"}',
      0,
      `the apiVersion of its answer is not ${plugin.apiVersion}, which the kubeconfig names`,
    ],
    ['nothing', {}, 0, 'its answer has neither a token nor a certificate'],
    ['half', { clientKeyData: 'K' }, 0, 'its answer has only one of certificate and key'],
    ['a number', { token: 7 }, 0, 'status.token of its answer is not text'],
    [
      'no time',
      { token: 't', expirationTimestamp: 'soon' },
      0,
      'status.expirationTimestamp of its answer is not a time',
    ],
    ['a failure', { token: 't' }, 3, 'it ended with exit code 3, expected 0'],
  ]
  test('reports a program that failed, with its exit code', async () => {
    const { calls, headers, say } = setUp({ login: { kind: 'exec', plugin } })
    say({ token: 't' }, 3)
    await assert.rejects(headers())
    assert.deepEqual(calls, [{ status: 'plugin_execution_error', code: 3 }])
  })

  for (const [name, status, exitCode, problem] of answers) {
    test(`refuses ${name} of a program, without its words`, async () => {
      const { headers, say } = setUp({ login: { kind: 'exec', plugin } })
      say(status, exitCode)
      await assert.rejects(headers(), {
        name: 'KubeconfigError',
        message: `Cannot get credentials from the program "/bin/get-token": ${problem}\nInstall get-token.`,
      })
    })
  }
})
