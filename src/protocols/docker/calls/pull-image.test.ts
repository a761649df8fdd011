import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { AuthConfig } from '../../cri/generated/runtime-v1.ts'
import type { DockerDeps } from '../docker-deps.ts'
import { Downloads } from './downloads.ts'
import { pullReference } from './pull-image.ts'

const never = new AbortController().signal

/** A Docker that answers a pull with what is written to it. */
function createDocker() {
  const clock = new FakeClock()
  const answer = new PassThrough()
  const requests: { readonly query?: object; readonly headers?: Readonly<Record<string, string>> }[] = []
  const downloads = new Downloads(clock)
  const api = {
    open: async (request: (typeof requests)[number], signal: AbortSignal) => {
      requests.push(request)
      signal.addEventListener('abort', () => answer.destroy(signal.reason as Error), { once: true })
      return answer
    },
  }
  const deps = { api, downloads, clock, pullProgressMs: 30_000 } as unknown as DockerDeps
  return {
    clock,
    answer,
    requests,
    downloads,
    say: (line: object) => void answer.write(`${JSON.stringify(line)}\n`),
    pull: (name: string, auth?: Partial<AuthConfig>) =>
      pullReference(deps, { name, auth: auth && AuthConfig.fromPartial(auth) }, never),
  }
}

describe('pullReference()', () => {
  const references: readonly (readonly [name: string, repository: string, tag: string])[] = [
    ['busybox', 'busybox', 'latest'],
    ['host:5000/team/web:1', 'host:5000/team/web', '1'],
    [`host:5000/team/web@sha256:${'a'.repeat(64)}`, 'host:5000/team/web', `sha256:${'a'.repeat(64)}`],
  ]
  for (const [name, fromImage, tag] of references) {
    test(`asks for one version of ${name}`, async () => {
      const { answer, requests, pull } = createDocker()
      answer.end()
      await pull(name)
      assert.deepEqual(requests[0]?.query, { fromImage, tag })
    })
  }

  test('gives Docker the login, also one that is encoded already, and an empty one where there is none', async () => {
    const sent = async (auth?: Partial<AuthConfig>) => {
      const { answer, requests, pull } = createDocker()
      answer.end()
      await pull('a', auth)
      const header = requests[0]?.headers?.['X-Registry-Auth'] ?? ''
      assert.equal(header.length % 4, 0, 'Docker wants padding')
      return JSON.parse(Buffer.from(header, 'base64url').toString()) as unknown
    }
    assert.deepEqual(await sent(), {})
    assert.deepEqual(await sent({ username: 'me', password: 'ü?>', serverAddress: 'host' }), {
      username: 'me',
      password: 'ü?>',
      serveraddress: 'host',
    })
    const auth = Buffer.from('me:open:sesame').toString('base64')
    assert.deepEqual(await sent({ auth }), { username: 'me', password: 'open:sesame' })
    assert.deepEqual(await sent({ identityToken: 't' }), { username: '', password: '', identitytoken: 't' })
  })

  test('finds in the answer what went wrong', async () => {
    const failure = async (line: object) => {
      const { say, pull } = createDocker()
      say({ status: 'Pulling from a' })
      say(line)
      return await pull('a').then(
        () => '',
        (error: Error) => error.message,
      )
    }
    assert.match(await failure({ error: 'manifest unknown' }), /manifest unknown/)
    assert.match(
      await failure({ errorDetail: { code: 503, message: 'try later' }, error: 'try later' }),
      /RegistryUnavailable: try later/,
    )
  })

  test('shows how far it is', async () => {
    const { say, answer, downloads, pull } = createDocker()
    const pulling = pull('a')
    say({ id: 'layer', status: 'Downloading', progressDetail: { current: 5, total: 20 } })
    while (downloads.list().length === 0) await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(
      downloads.list().map(({ ref, doneBytes, totalBytes }) => ({ ref, doneBytes, totalBytes })),
      [{ ref: 'a layer', doneBytes: 5, totalBytes: 20 }],
    )
    answer.end()
    await pulling
    assert.deepEqual(downloads.list(), [])
  })

  test('gives up a pull that makes no progress for the time that is set, and no other', async () => {
    const { clock, say, pull } = createDocker()
    const pulling = pull('a')
    const outcome = pulling.then(
      () => 'done',
      (error: Error) => error.message,
    )
    for (let step = 0; step < 6; step += 1) {
      await clock.advance(20_000)
      say({ status: 'Downloading' })
      await new Promise((resolve) => setImmediate(resolve))
    }
    await clock.advance(40_000)
    assert.match(await outcome, /the pull made no progress for 30 s/)
  })
})
