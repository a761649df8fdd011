import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { isTransient } from '../../../base/async/transient-errors.ts'
import { readPatiently } from './read-patiently.ts'

describe('readPatiently()', () => {
  function setUp(code: string, failures: number) {
    const clock = new FakeClock()
    let tries = 0
    const read = async () => {
      tries += 1
      if (tries > failures) return 'text'
      throw new Error('Cannot read it', { cause: Object.assign(new Error(code), { code }) })
    }
    const reading = readPatiently(read, { path: '/d/state', clock }, new AbortController().signal)
    reading.catch(() => {})
    return { clock, reading, tries: () => tries }
  }

  for (const code of ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'])
    test(`tries again after ${code}`, async () => {
      const { clock, reading } = setUp(code, 3)
      await clock.advance(2100)
      assert.equal(await reading, 'text')
    })

  test('says which file it is when that does not pass, and that it may', async () => {
    const { clock, reading, tries } = setUp('EMFILE', 100)
    await clock.advance(2100)
    await assert.rejects(reading, (error: Error) => {
      assert.equal(error.message, 'Cannot read "/d/state" now, it is left as it is: Cannot read it: EMFILE')
      return isTransient(error)
    })
    assert.equal(tries(), 4)
  })

  for (const code of ['EIO', 'EACCES', 'EISDIR'])
    test(`fails at once with ${code}, which does not pass`, async () => {
      const { clock, reading, tries } = setUp(code, 100)
      await assert.rejects(reading, /^Error: Cannot read it$/)
      assert.deepEqual([tries(), clock.sleeping], [1, 0])
    })
})
