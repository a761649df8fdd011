import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import type { CredentialProvider } from '../../../model/config/credential-providers/load-credential-providers.ts'
import type { ProcessResult } from '../../../system/processes/run-process.ts'
import { parsePodUid } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { LogFields, Logger } from '../../../base/telemetry/logger.ts'
import { CredentialPlugin } from './credential-plugin.ts'

const V1 = 'credentialprovider.kubelet.k8s.io/v1'
const never = new AbortController().signal

type Attributes = NonNullable<CredentialProvider['tokenAttributes']>

function makePod(uid: string, serviceAccountName?: string): Pod {
  return {
    metadata: { name: `web-${uid}`, namespace: 'team', uid: parsePodUid(uid) },
    spec: { containers: [], ...(serviceAccountName === undefined ? {} : { serviceAccountName }) },
  }
}

/** A plugin that wants tokens; the token of a pod is "hush-" and its uid, until it is renewed. */
function make(attributes: Partial<Attributes> = {}) {
  const clock = new FakeClock()
  const asked: string[] = []
  const lines: { readonly level: string; readonly fields: LogFields | undefined }[] = []
  const state = {
    password: 'pass',
    renewal: '',
    uid: 'sa-1',
    annotations: { role: 'puller', region: 'here', other: 'not shown' } as Record<string, string>,
    run: async (): Promise<ProcessResult> => ({ exitCode: 0, stdout: answer(state.password), stderr: 'hush' }),
    failure: undefined as Error | undefined,
  }
  const questions: { readonly serviceAccountToken?: string; readonly serviceAccountAnnotations?: object }[] = []
  const say = (level: string) => (_: string, fields?: LogFields) => void lines.push({ level, fields })
  const log: Logger = {
    error: say('error'),
    warn: say('warn'),
    info: say('info'),
    debug: say('debug'),
    child: () => log,
  }
  const provider: CredentialProvider = {
    name: 'plugin',
    program: '/plugins/plugin',
    matchImages: ['r.example'],
    defaultCacheDuration: 60_000,
    apiVersion: V1,
    args: [],
    env: [],
    tokenAttributes: {
      serviceAccountTokenAudience: 'registry',
      cacheType: 'ServiceAccount',
      requireServiceAccount: true,
      requiredServiceAccountAnnotationKeys: ['role'],
      optionalServiceAccountAnnotationKeys: ['region', 'colour'],
      ...attributes,
    },
  }
  const accounts = {
    async account({ metadata, spec }: Pod) {
      asked.push(`account ${metadata.namespace}/${spec.serviceAccountName}`)
      if (state.failure !== undefined) throw state.failure
      return { metadata: { uid: state.uid, annotations: state.annotations } }
    },
    async token({ metadata }: Pod, { audience, accountUid }: { audience: string; accountUid: string }) {
      asked.push(`token ${metadata.uid} ${audience} ${accountUid}`)
      return `hush-${metadata.uid}${state.renewal}`
    },
  }
  const run = async ({ stdin }: { readonly stdin?: Uint8Array | string }) => {
    questions.push(JSON.parse(String(stdin)))
    return await state.run()
  }
  const plugin = new CredentialPlugin(provider, { run, environment: {}, accounts, clock, log }, never)
  const find = async (pod: Pod, repository = 'r.example/a') => {
    const found = await plugin.credentials(pod, repository, never)
    return found.map(({ value }) => [value.login.password, value.account?.uid])
  }
  return { clock, asked, lines, state, questions, plugin, find }
}

function answer(password: string): string {
  const auth = { 'r.example': { username: 'me', password } }
  return JSON.stringify({ apiVersion: V1, kind: 'CredentialProviderResponse', cacheKeyType: 'Registry', auth })
}

describe('CredentialPlugin that wants tokens of service accounts', () => {
  test('is shown the token for its audience and the annotations it names', async () => {
    const { asked, questions, find } = make()
    assert.deepEqual(await find(makePod('a', 'robot')), [['pass', 'sa-1']])
    assert.deepEqual(asked, ['account team/robot', 'token a registry sa-1'])
    assert.deepEqual(questions, [
      {
        apiVersion: V1,
        kind: 'CredentialProviderRequest',
        image: 'r.example/a',
        serviceAccountToken: 'hush-a',
        serviceAccountAnnotations: { region: 'here', role: 'puller' },
      },
    ])
  })

  test('asks nothing for images that are not its own', async () => {
    const { asked, find } = make()
    assert.deepEqual([await find(makePod('a', 'robot'), 'q.example/a'), asked], [[], []])
  })

  test('serves pods without a service account, such as static ones, unless it needs one', async () => {
    const free = make({ requireServiceAccount: false, requiredServiceAccountAnnotationKeys: [] })
    const found = [await free.find(makePod('a')), await free.find(makePod('b', ''))]
    const nobody = [['pass', undefined]]
    assert.deepEqual([found, free.asked, free.questions.length], [[nobody, nobody], [], 1])
    assert.deepEqual(Object.keys(free.questions[0] ?? {}), ['apiVersion', 'kind', 'image'])
    assert.deepEqual(
      await free.find(makePod('c', 'robot')),
      [['pass', 'sa-1']],
      'what is nobody’s is not the account’s',
    )
    const strict = make()
    assert.deepEqual([await strict.find(makePod('a')), strict.questions, strict.lines], [[], [], []])
  })

  test('is not asked, and no token either, for an account without an annotation that it needs', async () => {
    const { asked, lines, state, questions, find } = make()
    state.annotations = { region: 'here' }
    assert.deepEqual(await find(makePod('a', 'robot')), [])
    assert.deepEqual([asked, questions], [['account team/robot'], []])
    const fields = {
      plugin: 'plugin',
      image: 'r.example/a',
      pod: 'team/web-a',
      serviceAccountName: 'robot',
      annotation: 'role',
    }
    assert.deepEqual(lines, [{ level: 'debug', fields }])
  })

  test('is not asked while the account cannot be read, which is logged with pod and plugin', async () => {
    const { lines, state, questions, find } = make()
    state.failure = new Error('this node has no API server')
    assert.deepEqual([await find(makePod('a', 'robot')), questions], [[], []])
    const fields = {
      plugin: 'plugin',
      image: 'r.example/a',
      pod: 'team/web-a',
      serviceAccountName: 'robot',
      error: state.failure,
    }
    assert.deepEqual(lines, [{ level: 'warn', fields }])
  })

  const kept: [cacheType: 'Token' | 'ServiceAccount', runs: number[]][] = [
    // How often it ran after: pod a, a again, a with a new token, another pod, another account of the name, another annotation.
    ['ServiceAccount', [1, 1, 1, 1, 2, 3]],
    ['Token', [1, 1, 2, 3, 4, 5]],
  ]
  for (const [cacheType, expected] of kept) {
    test(`keeps an answer for the ${cacheType}`, async () => {
      const { state, questions, find } = make({ cacheType })
      const runs: number[] = []
      const steps: [uid: string, change: Partial<typeof state>][] = [
        ['a', {}],
        ['a', {}],
        ['a', { renewal: '-2' }],
        ['b', {}],
        ['b', { uid: 'sa-2' }],
        ['b', { annotations: { role: 'admin' } }],
      ]
      for (const [uid, change] of steps) {
        Object.assign(state, change)
        assert.deepEqual(await find(makePod(uid, 'robot')), [['pass', state.uid]])
        runs.push(questions.length)
      }
      assert.deepEqual(runs, expected)
    })
  }

  test('runs for each pod that asks at the same time: what becomes of one token is not the others’', async () => {
    const { state, questions, find } = make()
    const gate = Promise.withResolvers<ProcessResult>()
    state.run = () => gate.promise
    const all = [makePod('a', 'robot'), makePod('a', 'robot'), makePod('b', 'robot')].map((pod) => find(pod))
    gate.resolve({ exitCode: 0, stdout: answer('pass'), stderr: '' })
    await Promise.all(all)
    assert.deepEqual(
      questions.map(({ serviceAccountToken }) => serviceAccountToken),
      ['hush-a', 'hush-b'],
    )
  })

  test('may give the token back as a password only when answers are kept for the token', async () => {
    const tokens = make({ cacheType: 'Token' })
    tokens.state.password = 'hush-a'
    assert.deepEqual(await tokens.find(makePod('a', 'robot')), [['hush-a', 'sa-1']])
    const accounts = make()
    accounts.state.password = 'hush-a'
    assert.deepEqual(await accounts.find(makePod('a', 'robot')), [])
    const [line] = accounts.lines
    assert.match(String(line?.fields?.['error']), /gave the token back as a password, expected cacheType Token/)
  })

  test('shows no token in the log when it fails', async () => {
    const { lines, state, find } = make()
    state.run = async () => ({ exitCode: 1, stdout: 'hush-a', stderr: 'hush-a' })
    assert.deepEqual(await find(makePod('a', 'robot')), [])
    assert.equal(lines.length, 1)
    const { error, ...fields } = lines[0]?.fields ?? {}
    assert.equal((error as Error).message, 'it ended with exit code 1, expected 0')
    assert.deepEqual(fields, {
      plugin: 'plugin',
      image: 'r.example/a',
      pod: 'team/web-a',
      serviceAccountName: 'robot',
    })
  })

  test('ends with who asks', async () => {
    const { plugin, state, lines } = make()
    const leaving = new AbortController()
    leaving.abort(new Error('enough'))
    state.failure = new Error('enough')
    await assert.rejects(plugin.credentials(makePod('a', 'robot'), 'r.example/a', leaving.signal), /enough/)
    assert.deepEqual(lines, [])
  })
})
