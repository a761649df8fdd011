import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import type { CredentialProvider } from '../../../model/config/credential-providers/load-credential-providers.ts'
import type { ProcessRequest, ProcessResult } from '../../../system/processes/run-process.ts'
import { parsePodUid } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { CredentialPlugin } from './credential-plugin.ts'

const V1 = 'credentialprovider.kubelet.k8s.io/v1'
const never = new AbortController().signal
const provider: CredentialProvider = {
  name: 'plugin',
  program: '/plugins/plugin',
  matchImages: ['*.example', 'r.test:5000/team'],
  defaultCacheDuration: 60_000,
  apiVersion: V1,
  args: ['get', 'it'],
  env: [{ name: 'REGION', value: 'here' }],
}

function makePod(): Pod {
  return {
    metadata: { name: 'web', namespace: 'default', uid: parsePodUid('a') },
    spec: { containers: [], serviceAccountName: 'robot' },
  }
}

function answer(fields: object = {}): ProcessResult {
  const stdout = JSON.stringify({
    apiVersion: V1,
    kind: 'CredentialProviderResponse',
    cacheKeyType: 'Image',
    auth: { 'r.example': { username: 'me', password: 'hush' } },
    ...fields,
  })
  return { exitCode: 0, stdout, stderr: '' }
}

function make(fields: Partial<CredentialProvider> = {}) {
  const clock = new FakeClock()
  const requests: ProcessRequest[] = []
  const warnings: string[] = []
  const state = { run: async (): Promise<ProcessResult> => answer() }
  const plugin = new CredentialPlugin(
    { ...provider, ...fields },
    {
      run: (request) => {
        requests.push(request)
        return state.run()
      },
      environment: { PATH: '/bin', REGION: 'elsewhere' },
      accounts: { account: () => assert.fail('asked'), token: () => assert.fail('asked') },
      clock,
      log: {
        ...silentLogger,
        warn: (message, more) => void warnings.push(`${message} ${(more?.['error'] as Error | undefined)?.message}`),
      },
    },
    never,
  )
  const names = async (repository: string, pod = makePod()) =>
    (await plugin.credentials(pod, repository, never)).map(({ value }) => value.login.username)
  return { clock, requests, warnings, state, plugin, names }
}

describe('CredentialPlugin', () => {
  test('is asked about the images it is for, as the protocol says', async () => {
    const { requests, names } = make()
    assert.deepEqual(await names('r.example/a'), ['me'])
    assert.deepEqual(await names('r.test:5000/team/b'), ['me'])
    assert.deepEqual(await names('r.test:5000/other'), [])
    assert.deepEqual(await names('r.test/team'), [])
    assert.deepEqual(
      requests.map(({ stdin }) => (JSON.parse(String(stdin)) as { image: string }).image),
      ['r.example/a', 'r.test:5000/team/b'],
    )
    const { stdin: _, ...request } = requests[0] ?? {}
    assert.deepEqual(request, {
      argv: ['/plugins/plugin', 'get', 'it'],
      environment: { PATH: '/bin', REGION: 'here' },
      deadlineMs: 60_000,
      maxOutputBytes: 1024 * 1024,
    })
  })

  const cached: [what: string, fields: object, runs: number[]][] = [
    // How often it ran after: a, a again, b of the registry, c of another one, a after 59 s, a after 61 s.
    ['an image', {}, [1, 1, 2, 3, 3, 4]],
    ['a registry', { cacheKeyType: 'Registry' }, [1, 1, 1, 2, 2, 3]],
    ['everything', { cacheKeyType: 'Global' }, [1, 1, 1, 1, 1, 2]],
    ['no time', { cacheDuration: '0s' }, [1, 2, 3, 4, 5, 6]],
    ['longer', { cacheDuration: '1h', cacheKeyType: 'Global' }, [1, 1, 1, 1, 1, 1]],
  ]
  for (const [what, fields, expected] of cached) {
    test(`keeps an answer for ${what}`, async () => {
      const { clock, requests, state, names } = make()
      state.run = async () => answer(fields)
      const runs: number[] = []
      for (const [ms, repository] of [
        [0, 'r.example/a'],
        [0, 'r.example/a'],
        [0, 'r.example/b'],
        [0, 'q.example/c'],
        [59_000, 'r.example/a'],
        [2000, 'r.example/a'],
      ] as const) {
        await clock.advance(ms)
        await names(repository)
        runs.push(requests.length)
      }
      assert.deepEqual(runs, expected)
    })
  }

  test('runs once for all who ask at the same time, and goes on when one leaves', async () => {
    const { requests, state, plugin, names } = make({ defaultCacheDuration: 0 })
    const gate = Promise.withResolvers<ProcessResult>()
    state.run = () => gate.promise
    const leaving = new AbortController()
    const gone = plugin.credentials(makePod(), 'r.example/a', leaving.signal)
    const others = [names('r.example/a'), names('r.example/a')]
    leaving.abort(new Error('enough'))
    await assert.rejects(gone, /enough/)
    gate.resolve(answer())
    assert.deepEqual(await Promise.all(others), [['me'], ['me']])
    assert.equal(requests.length, 1)
    await names('r.example/a')
    assert.equal(requests.length, 2)
  })

  const failures: [what: string, run: () => Promise<ProcessResult>, reported: RegExp][] = [
    ['a bad end', async () => ({ exitCode: 3, stdout: 'hush', stderr: 'hush' }), /exit code 3, expected 0/],
    ['a signal', async () => ({ exitCode: undefined, stdout: '', stderr: '' }), /exit code none/],
    ['nonsense', async () => ({ exitCode: 0, stdout: 'hush', stderr: '' }), /not JSON/],
    ['no program', () => Promise.reject(new Error('no such program')), /no such program/],
  ]
  for (const [what, run, reported] of failures) {
    test(`knows nothing after ${what}, logs so without secrets, and tries again`, async () => {
      const { requests, warnings, state, names } = make()
      state.run = run
      assert.deepEqual(await names('r.example/a'), [])
      assert.equal(warnings.length, 1)
      assert.match(warnings[0] ?? '', reported)
      assert.ok(!warnings[0]?.includes('hush'))
      await names('r.example/a')
      assert.equal(requests.length, 2)
    })
  }
})
