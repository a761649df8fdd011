import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { countAccess } from '../../../test/fakes/counted-access.ts'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { KubeApiError, KubeUnreachableError } from '../../protocols/kube-api/kube-client.ts'
import type { KubeRequest } from '../../protocols/kube-api/kube-client.ts'
import { TokenReviews } from './token-reviews.ts'

const never = new AbortController().signal
const TTL_MS = 120_000
const YES = {
  status: { authenticated: true, user: { username: 'bot', uid: '7', groups: ['g'], extra: { k: ['v'] } } },
}
const BOT = {
  kind: 'valid',
  caller: { name: 'bot', uid: '7', groups: ['g', 'system:authenticated'], extra: { k: ['v'] } },
}

/** An API server that gives these answers in turn, the last of them for ever. */
function setUp(...answers: readonly (object | Error)[]) {
  const asked: KubeRequest[] = []
  const clock = new FakeClock()
  const client = {
    async send<T>(request: KubeRequest): Promise<T> {
      asked.push(request)
      await clock.sleep(10, never)
      const answer = answers[Math.min(asked.length, answers.length) - 1]
      if (answer instanceof Error) throw answer
      return answer as T
    },
  }
  const { metrics, counted } = countAccess()
  const reviews = new TokenReviews({ client, clock, random: () => 0.5, cacheTtlMs: TTL_MS, metrics }, never)
  const ask = async (token = 'secret') => {
    const result = reviews.authenticate(token, never)
    result.catch(() => {})
    await clock.advance(10)
    return await result
  }
  return { asked, counted, clock, reviews, ask }
}

describe('TokenReviews', () => {
  test('asks without audiences, and takes user, uid, groups and extra', async () => {
    const { asked, ask } = setUp(YES)
    assert.deepEqual(await ask(), BOT)
    assert.deepEqual(asked, [
      {
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'secret' } },
      },
    ])
  })

  test('remembers a yes and a no for a while, each token on its own', async () => {
    for (const [answer, kind] of [
      [YES, 'valid'],
      [{ status: { error: 'expired' } }, 'invalid'],
      [{}, 'invalid'],
      [{ status: { authenticated: true, user: {} } }, 'invalid'],
    ] as const) {
      const { asked, clock, ask } = setUp(answer)
      assert.equal((await ask()).kind, kind)
      await clock.advance(TTL_MS - 20)
      await ask()
      assert.equal(asked.length, 1)
      await clock.advance(20)
      await ask()
      assert.equal(asked.length, 2)
      await ask('other')
      assert.equal(asked.length, 3)
    }
  })

  test('asks once for all who ask at the same time, also when the first of them leaves', async () => {
    const { asked, clock, reviews } = setUp(YES)
    const first = new AbortController()
    const waiting = [reviews.authenticate('t', first.signal), reviews.authenticate('t', never)]
    const left = assert.rejects(waiting[0] ?? Promise.resolve(), /left/)
    first.abort(new Error('left'))
    await left
    await clock.advance(10)
    assert.deepEqual(await waiting[1], BOT)
    assert.equal(asked.length, 1)
  })

  test('tries again when no real answer came, and remembers no failure', async () => {
    const busy = new KubeApiError('busy', { code: 503, reason: '', retryAfterSeconds: 1 })
    const { asked, counted, clock, reviews, ask } = setUp(new KubeUnreachableError('gone'), busy, YES)
    const result = reviews.authenticate('secret', never)
    await clock.advance(10 + 550 + 10 + 825 + 10)
    assert.deepEqual([await result, asked.length], [BOT, 3])
    const tries = ['authn <error> 0.01', 'authn 503 0.01', 'authn 201 0.01']
    assert.deepEqual(counted.splice(0), ['wait 1', 'fetch begun', ...tries, 'fetch ok', 'wait -1', 'miss'])
    const broken = setUp(new KubeApiError('no', { code: 403, reason: 'Forbidden' }))
    await assert.rejects(broken.ask(), /no/)
    await assert.rejects(broken.ask(), /no/)
    assert.equal(broken.asked.length, 2)
    assert.deepEqual(broken.counted.slice(2, 4), ['authn 403 0.01', 'fetch error'])
    assert.deepEqual(await ask(), BOT)
    assert.deepEqual(counted, ['hit'])
  })

  test('gives up after five tries', async () => {
    const { asked, clock, reviews } = setUp(new KubeApiError('broken', { code: 500, reason: '' }))
    const result = assert.rejects(reviews.authenticate('t', never), /broken/)
    await clock.advance(20_000)
    await result
    assert.equal(asked.length, 5)
    assert.equal(clock.sleeping, 0)
  })

  test('gives up when the API server is silent', async () => {
    const clock = new FakeClock()
    const client = { send: () => new Promise<never>(() => {}) }
    const reviews = new TokenReviews(
      { client, clock, random: () => 0, cacheTtlMs: TTL_MS, metrics: countAccess().metrics },
      never,
    )
    const result = assert.rejects(reviews.authenticate('t', never), /no end after 30000 ms/)
    await clock.advance(30_000)
    await result
  })
})
