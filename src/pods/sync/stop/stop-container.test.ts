import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import { createPodDeps, failing } from '../../../../test/component/create-pod-deps.ts'
import type { LifecycleHandler } from '../../../model/generated/core-v1.ts'
import { Grace } from './grace.ts'
import type { PodDeps } from '../pod-worker.ts'
import { stopContainer } from './stop-container.ts'

type Calls = PodDeps['calls']
const podWith = (preStop: LifecycleHandler) =>
  createPod({ spec: { containers: [createContainer({ lifecycle: { preStop } })] } })
const command = { exec: { command: ['bye'] } }
const sleep = (seconds: number) => ({ sleep: { seconds } })

/** Stops "main" and shows how it goes. */
async function setUp(
  preStop: LifecycleHandler,
  options: { readonly seconds?: number; readonly answers?: Partial<Calls>; readonly after?: Promise<unknown>[] } = {},
) {
  const { seconds = 10, answers = {}, after = [] } = options
  const made = await createPodDeps({}, answers)
  const leave = new AbortController()
  const grace = new Grace({ clock: made.clock, seconds, among: new Set() })
  const stop = {
    pod: podWith(preStop),
    container: { id: 'c-1', name: 'main' },
    podIp: '10.0.0.1',
    grace,
    message: 'Stopping container main',
    after,
  }
  let result: 'no' | 'yes' | Error = 'no'
  stopContainer(made.deps, stop, leave.signal).then(
    () => (result = 'yes'),
    (error: Error) => (result = error),
  )
  await made.clock.advance(0)
  return { ...made, grace, leave, outcome: () => result }
}

const hanging = (_request: unknown, signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

describe('stopContainer()', () => {
  test('runs the hook, then stops with the whole grace when the hook took no second', async () => {
    const { journal, events, outcome, clock, leave } = await setUp(command)
    assert.deepEqual(journal, ['execSync c-1 0', 'stopContainer c-1 10'])
    assert.deepEqual(events, ['Normal Killing Stopping container main'])
    assert.equal(outcome(), 'yes')
    assert.deepEqual([clock.sleeping, getEventListeners(leave.signal, 'abort').length], [0, 0])
  })

  for (const [seconds, hook, left] of [
    [10, 3, 7],
    [10, 9, 2],
    [10, 8.9, 2],
    [10, 7.5, 3],
    [1, 0.5, 2],
  ] as const) {
    test(`a hook of ${hook} s leaves ${left} of ${seconds} s`, async () => {
      const { journal, clock } = await setUp(sleep(hook), { seconds })
      assert.deepEqual(journal, [])
      await clock.advance(hook * 1000)
      assert.deepEqual(journal, [`stopContainer c-1 ${left}`])
    })
  }

  test('a hook that takes longer than the grace is left alone until the container has ended', async () => {
    let given: AbortSignal | undefined
    const execSync = (request: unknown, signal: AbortSignal) => ((given = signal), hanging(request, signal))
    let end = () => {}
    const stopped = new Promise<never>((resolve) => (end = () => resolve({} as never)))
    const answers = { execSync, stopContainer: () => stopped }
    const { journal, clock, lines, events, outcome } = await setUp(command, { answers, seconds: 5 })
    await clock.advance(5000)
    assert.deepEqual(journal.slice(1), ['stopContainer c-1 2'])
    assert.equal(given?.aborted, false)
    end()
    await clock.advance(0)
    assert.deepEqual([given?.aborted, outcome(), clock.sleeping], [true, 'yes', 0])
    assert.deepEqual(lines, ['warn preStop hook took longer than the grace period'])
    assert.deepEqual(events, ['Normal Killing Stopping container main'])
  })

  test('without any grace there is no hook', async () => {
    const { journal } = await setUp(command, { seconds: 0 })
    assert.deepEqual(journal, ['stopContainer c-1 2'])
  })

  for (const [name, answer] of [
    ['that fails', failing('Unknown', 'no such program')],
    ['that ends badly', async () => ({ exitCode: 3, stdout: Buffer.from('secret') }) as never],
  ] as const) {
    test(`a hook ${name} is reported, and the container is stopped`, async () => {
      const { journal, events } = await setUp(command, { answers: { execSync: answer } })
      assert.equal(journal.at(-1), 'stopContainer c-1 10')
      assert.deepEqual(events.slice(1), ['Warning FailedPreStopHook PreStopHook failed'])
    })
  }

  test('the hook does not wait for other containers, the signal does', async () => {
    const other = Promise.withResolvers<void>()
    const { journal, clock } = await setUp(command, { after: [other.promise] })
    await clock.advance(4000)
    assert.deepEqual(journal, ['execSync c-1 0'])
    other.reject(new Error('did not stop'))
    await clock.advance(0)
    assert.deepEqual(journal.slice(1), ['stopContainer c-1 6'])
    assert.equal(clock.sleeping, 0)
  })

  test('after the grace no other container is waited for', async () => {
    const { journal, clock } = await setUp(sleep(4), { seconds: 5, after: [new Promise(() => {})] })
    await clock.advance(4999)
    assert.deepEqual(journal, [])
    await clock.advance(1)
    assert.deepEqual(journal, ['stopContainer c-1 2'])
  })

  test('a grace that becomes shorter cuts the hook', async () => {
    const { journal, clock, grace } = await setUp(sleep(60), { seconds: 90 })
    await clock.advance(1000)
    grace.shorten(3)
    await clock.advance(2999)
    assert.deepEqual(journal, [])
    await clock.advance(1)
    assert.deepEqual(journal, ['stopContainer c-1 2'])
  })

  test('a grace that becomes shorter is given to the runtime again, without a second hook', async () => {
    let calls = 0
    const stopContainer = async (request: unknown, signal: AbortSignal) =>
      (calls += 1) === 1 ? await hanging(request, signal) : ({} as never)
    const { journal, clock, grace, outcome, leave } = await setUp(command, {
      seconds: 90,
      answers: { stopContainer },
    })
    await clock.advance(20_000)
    grace.shorten(80)
    await clock.advance(0)
    assert.deepEqual(journal, ['execSync c-1 0', 'stopContainer c-1 90'])
    grace.shorten(5)
    await clock.advance(0)
    assert.deepEqual(journal.slice(2), ['stopContainer c-1 5'])
    assert.equal(outcome(), 'yes')
    assert.deepEqual(getEventListeners(leave.signal, 'abort'), [])
  })

  test('a container that the runtime no longer has is stopped', async () => {
    const { outcome } = await setUp(command, { answers: { stopContainer: failing('NotFound') } })
    assert.equal(outcome(), 'yes')
  })

  test('an agent that leaves stops nothing', async () => {
    const { journal, leave, outcome, clock, events } = await setUp(sleep(5))
    const reason = new Error('leave')
    leave.abort(reason)
    await clock.advance(10_000)
    assert.deepEqual([journal, outcome(), clock.sleeping], [[], reason, 0])
    assert.equal(events.length, 1, 'a hook that was given up did not fail')
  })
})
