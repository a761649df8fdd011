import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import { PodRemains } from './pod-remains.ts'

const DIRECTORY = '/pods/u-1'
const UID = parsePodUid('u-1')

function setUp(left: readonly string[]) {
  const clock = new FakeClock()
  const world = { left, isKnown: false, tries: 0 }
  const events: string[] = []
  const lines: string[] = []
  const log = { warn: (text: string) => void lines.push(text) } as unknown as Logger
  const remains = new PodRemains({
    knows: () => world.isKnown,
    events: { record: ({ message }) => void events.push(message) },
    clock,
    log,
  })
  const retry = async () => {
    world.tries += 1
    return { directory: DIRECTORY, left: world.left }
  }
  const note = () => remains.note({ directory: DIRECTORY, left: world.left }, { uid: UID, retry })
  const stop = new AbortController()
  const running = remains.run(stop.signal)
  running.catch(() => {})
  return { clock, world, events, lines, note, stop, running }
}

describe('PodRemains', () => {
  test('says what keeps a directory, in an event that does not expire meanwhile, and removes it when that is gone', async () => {
    const { clock, world, events, lines, note } = setUp([`${DIRECTORY}/foreign (mounted)`])
    note()
    note()
    const expected = `Cannot remove "${DIRECTORY}" of a pod that is gone, it holds what is not the kubelet's: ${DIRECTORY}/foreign (mounted)`
    assert.deepEqual([events, lines.length], [[expected], 1])
    await clock.advance(600_000)
    assert.deepEqual([new Set(events), lines.length], [new Set([expected]), 1])
    assert.equal(events.length, 4)
    assert.ok(world.tries > 3 && world.tries < 10, `tried ${world.tries} times`)
    world.left = [`${DIRECTORY}/other (not the agent's)`]
    await clock.advance(300_000)
    assert.deepEqual([events.length, lines.length], [5, 2])
    world.left = []
    await clock.advance(300_000)
    assert.equal(clock.sleeping, 0)
  })

  test('tries again soon after something was found', async () => {
    const { clock, world, note } = setUp(['x'])
    note()
    world.left = []
    await clock.advance(11_000)
    assert.deepEqual([world.tries, clock.sleeping], [1, 0])
  })

  test('leaves the directory of a pod that is back alone', async () => {
    const { clock, world, note } = setUp(['x'])
    note()
    world.isKnown = true
    await clock.advance(600_000)
    assert.deepEqual([world.tries, clock.sleeping], [0, 0])
  })

  test('ends with its signal', async () => {
    const { clock, note, stop, running } = setUp(['x'])
    note()
    await clock.advance(1000)
    const reason = new Error('the agent leaves')
    stop.abort(reason)
    await assert.rejects(running, reason)
    assert.equal(clock.sleeping, 0)
  })
})
