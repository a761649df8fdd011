import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { FakeObjectApi } from '../../../test/fakes/fake-object-api.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import type { LogFields, Logger } from '../../base/telemetry/logger.ts'
import { ObjectError } from './object-api.ts'
import type { TokenSpec } from './object-api.ts'
import { TokenCache } from './token-cache.ts'

const never = new AbortController().signal
const account = { namespace: 'shop', name: 'web' }
const spec: TokenSpec = {
  audiences: ['vault'],
  expirationSeconds: 3600,
  boundObject: { kind: 'Pod', name: 'web-1', uid: 'u-1' },
}
const MINUTE = 60_000

function setUp() {
  const clock = new FakeClock()
  const api = new FakeObjectApi(clock)
  const lines: string[] = []
  const say = (message: string, fields?: LogFields) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log: Logger = { error: say, warn: say, info: say, debug: say, child: () => log }
  const cache = new TokenCache({ api, signal: never, clock, random: () => 0, log })
  const get = async (parts: Partial<TokenSpec> = {}) => (await cache.get(account, { ...spec, ...parts }, never)).token
  return { clock, api, cache, lines, get }
}

describe('TokenCache', () => {
  test('asks once, also for those who ask at the same time, and renews at four fifths of its life', async () => {
    const { clock, get } = setUp()
    assert.deepEqual(await Promise.all([get(), get()]), ['token-1', 'token-1'])
    await clock.advance(48 * MINUTE)
    assert.equal(await get(), 'token-1')
    await clock.advance(1)
    assert.equal(await get(), 'token-2')
  })

  test('goes by the life that was given, not by the one that was asked for', async () => {
    const { clock, api, get } = setUp()
    api.tokenLifeSeconds = 600
    await get()
    await clock.advance(8 * MINUTE + 1)
    assert.equal(await get(), 'token-2')
  })

  test('keeps one for each account, also of the same name, audience, life and pod', async () => {
    const { cache, get } = setUp()
    await get()
    await get({ audiences: [] })
    await get({ expirationSeconds: 600 })
    await get({ boundObject: { kind: 'Pod', name: 'web-1', uid: 'u-2' } })
    await cache.get({ ...account, name: 'other' }, spec, never)
    await get({ accountUid: 'sa-1' })
    assert.equal(cache.size, 6)
    cache.forget(parsePodUid('u-2'))
    assert.equal(cache.size, 5)
    cache.forget(parsePodUid('u-1'))
    assert.equal(cache.size, 0)
  })

  test('a failure leaves a token that is still good in use, without showing what it is', async () => {
    const { clock, api, lines, get } = setUp()
    await get()
    api.failure = new ObjectError('Unavailable', 'away')
    await clock.advance(50 * MINUTE)
    assert.equal(await get(), 'token-1')
    assert.equal(lines.length, 1)
    assert.doesNotMatch(lines.join('\n'), /token-1/)
    await clock.advance(10 * MINUTE)
    await assert.rejects(get(), { reason: 'Unavailable', message: 'away' })
    api.failure = undefined
    assert.equal(await get(), 'token-2')
  })

  test('drops those that have ended when others are asked for, and failures at once', async () => {
    const { clock, api, cache, get } = setUp()
    await get()
    await clock.advance(61 * MINUTE)
    await get({ audiences: ['other'] })
    assert.equal(cache.size, 1)
    api.failure = new ObjectError('Forbidden', 'no')
    await assert.rejects(get({ audiences: ['third'] }), /no/)
    assert.equal(cache.size, 1)
  })

  test('a caller that gives up does not end the request of the others', async () => {
    const { api, cache } = setUp()
    api.silent = true
    const impatient = new AbortController()
    const waiting = cache.get(account, spec, impatient.signal)
    impatient.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
    assert.equal(cache.size, 1)
  })
})
