import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { CachedObject } from './cached-object.ts'

const version = (resourceVersion: string) => ({ metadata: { resourceVersion } })

function setUp() {
  const clock = new FakeClock()
  const answers: ReturnType<typeof Promise.withResolvers<ReturnType<typeof version>>>[] = []
  const get = () => {
    const answer = Promise.withResolvers<ReturnType<typeof version>>()
    answers.push(answer)
    return answer.promise
  }
  const object = new CachedObject({ get, ttlMs: () => 0, clock })
  const read = async () => (await object.read())?.metadata.resourceVersion
  return { object, answers, read }
}

describe('CachedObject', () => {
  test('does not go back to an older version', async () => {
    const { answers, read } = setUp()
    const reported: (string | undefined)[] = []
    for (const text of ['9', '10', '9', 'odd']) {
      const reading = read()
      answers.at(-1)?.resolve(version(text))
      reported.push(await reading)
    }
    assert.deepEqual(reported, ['9', '10', '10', 'odd'])
  })

  test('an answer to a question from before an invalidation is not for those who come after it', async () => {
    const { object, answers, read } = setUp()
    const early = read()
    object.invalidate()
    const late = read()
    answers[1]?.resolve(version('2'))
    assert.equal(await late, '2')
    answers[0]?.resolve(version('1'))
    assert.equal(await early, '1')
    const last = read()
    answers[2]?.reject(new Error('away'))
    assert.equal(await last, '2')
  })
})
