import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { askAgain } from './ask-again.ts'
import type { CriCalls } from './cri-calls.ts'

const never = new AbortController().signal
const isHung = Symbol('hung')

/** Calls whose answers a test gives; a hung one ends with its signal only. */
function setUp() {
  const clock = new FakeClock()
  const asked: string[] = []
  const answers: unknown[] = []
  let cancelled = 0
  const call = (name: string) => (request: { timeout?: bigint }, signal: AbortSignal) => {
    asked.push(request.timeout === undefined ? name : `${name} ${request.timeout}`)
    const answer = answers.shift() ?? isHung
    if (answer instanceof Error) return Promise.reject(answer)
    if (answer !== isHung) return Promise.resolve(answer)
    return new Promise((_, reject) => {
      const end = () => {
        cancelled += 1
        reject(signal.reason)
      }
      signal.addEventListener('abort', end, { once: true })
    })
  }
  const names = ['containerStatus', 'stopContainer', 'startContainer', 'removeContainer']
  const calls = Object.fromEntries(names.map((name) => [name, call(name)])) as unknown as CriCalls
  return { clock, asked, answers, calls: askAgain(calls, clock), cancelled: () => cancelled }
}

describe('askAgain()', () => {
  test('asks once where an answer comes, and leaves nothing behind', async () => {
    const { clock, asked, answers, calls } = setUp()
    answers.push({ status: 1 })
    assert.deepEqual(await calls.containerStatus({}, never), { status: 1 })
    await clock.advance(100_000)
    assert.deepEqual([asked, clock.sleeping], [['containerStatus'], 0])
  })

  test('asks a runtime that is well again, and gives up what it never answered', async () => {
    const { clock, asked, answers, calls, cancelled } = setUp()
    const answer = calls.containerStatus({}, never)
    await clock.advance(15_000)
    assert.equal(asked.length, 2)
    answers.push({ status: 1 })
    await clock.advance(5000)
    assert.deepEqual(await answer, { status: 1 })
    assert.deepEqual([asked.length, cancelled(), clock.sleeping], [3, 2, 0])
  })

  test('gives a container that hangs its time, and then the least', async () => {
    const { clock, asked, answers, calls } = setUp()
    answers.push(isHung, {})
    const stopped = calls.stopContainer({ timeout: 30n }, never)
    await clock.advance(39_000)
    assert.deepEqual(asked, ['stopContainer 30'])
    await clock.advance(1000)
    await stopped
    assert.deepEqual(asked, ['stopContainer 30', 'stopContainer 2'])
  })

  test('takes a failure from the first call only: a second may fail because of the first', async () => {
    const { clock, answers, calls } = setUp()
    answers.push(isHung, new Error('already in removing state'), {})
    const removed = calls.removeContainer({}, never)
    await clock.advance(30_000)
    assert.deepEqual(await removed, {})
    answers.push(new Error('no'))
    await assert.rejects(calls.removeContainer({}, never), /no/)
    assert.equal(clock.sleeping, 0)
  })

  test('asks less and less often: a slow runtime needs its time for what it was asked first', async () => {
    const { clock, asked, calls } = setUp()
    const stop = new AbortController()
    const removed = calls.removeContainer({}, stop.signal)
    // At 20, 30, 50 and 90 seconds, then each minute.
    const counts: number[] = []
    for (const ms of [19_000, 1000, 10_000, 20_000, 40_000, 60_000]) {
      await clock.advance(ms)
      counts.push(asked.length)
    }
    assert.deepEqual(counts, [1, 2, 3, 4, 5, 6])
    stop.abort(new Error('enough'))
    await assert.rejects(removed, /enough/)
  })

  test('never asks twice for what must not be done twice', async () => {
    const { clock, asked, calls } = setUp()
    const stop = new AbortController()
    const started = calls.startContainer({}, stop.signal)
    started.catch(() => {})
    await clock.advance(600_000)
    assert.deepEqual(asked, ['startContainer'])
    stop.abort(new Error('enough'))
  })

  test('ends with its signal', async () => {
    const { clock, calls } = setUp()
    const stop = new AbortController()
    const asked = calls.containerStatus({}, stop.signal)
    await clock.advance(15_000)
    stop.abort(new Error('enough'))
    await assert.rejects(asked, /enough/)
    assert.equal(clock.sleeping, 0)
  })
})
