import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parsePodUid } from '../../../model/pod/pod.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { FakePodFiles } from '../../../../test/component/fake-pod-files.ts'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { PodTermination } from './pod-termination.ts'
import { formatTerminationNote, parseTerminationNote } from './termination-note.ts'

const UID = parsePodUid('u-1')
const PATH = '/root/pods/u-1/termination.json'
const never = new AbortController().signal

function createTermination(parts: {
  readonly files?: FakePodFiles
  readonly clock?: FakeClock
  readonly bootId?: string
  readonly isNodeEnding?: boolean
}) {
  const { files = new FakePodFiles(), clock = new FakeClock(), bootId = 'b', isNodeEnding = false } = parts
  const lines: string[] = []
  const log = { warn: (text: string) => void lines.push(text) } as unknown as Logger
  const terminations = { notes: files.terminationNotes, bootId, isNodeEnding: () => isNodeEnding }
  const termination = new PodTermination({ terminations, clock, log }, UID)
  return { termination, files, clock, lines }
}

describe('PodTermination', () => {
  test('counts a hook as ended only when it is noted', async () => {
    const { termination, files } = createTermination({})
    termination.begin(30)
    assert.equal(termination.beginHook('c-1'), 0)
    assert.equal(files.files.size, 0)
    await termination.endHook('c-1')
    const { hooks } = parseTerminationNote(files.files.get(PATH) ?? '')
    assert.equal(hooks.get('c-1')?.ended, true)
  })

  test('takes nothing from a note of another boot: the clock of that one stands somewhere else', async () => {
    const files = new FakePodFiles()
    files.files.set(PATH, formatTerminationNote({ bootId: 'a', endsAt: 5, hooks: new Map(), stops: new Map() }))
    const { termination } = createTermination({ files })
    await termination.recall(true)
    assert.equal(termination.secondsLeft, undefined)
    assert.equal(termination.begin(30), 30)
  })

  test('takes a note of a pod that is not asked to end when the node goes on with its shutdown, and only then', async () => {
    for (const isNodeEnding of [true, false]) {
      const { termination: first, files, clock } = createTermination({})
      first.begin(30)
      await first.endHook('c-1')
      await clock.advance(20_000)
      const { termination } = createTermination({ files, clock, isNodeEnding })
      await termination.recall(false)
      assert.equal(termination.begin(30), isNodeEnding ? 10 : 30)
      assert.equal(termination.hook('c-1')?.ended, isNodeEnding ? true : undefined)
      assert.equal(files.files.size, isNodeEnding ? 1 : 0)
    }
  })

  test('knows what was being stopped of a pod that goes on, until it has stopped', async () => {
    const { termination: first, files, clock } = createTermination({})
    assert.equal(first.beginStop('c-1', 30), 30)
    first.beginHook('c-1')
    await first.endHook('c-1')
    await clock.advance(12_000)
    const { termination } = createTermination({ files, clock })
    await termination.recall(false)
    assert.equal(termination.secondsLeft, undefined, 'the pod itself does not end')
    assert.equal(termination.hook('c-1')?.ended, true)
    assert.deepEqual([termination.beginStop('c-2', 30), termination.beginStop('c-1', 30)], [30, 18])
    await termination.endStop('c-1', ['c-1'])
    assert.equal(termination.hook('c-1'), undefined)
    assert.deepEqual([...parseTerminationNote(files.files.get(PATH) ?? '').stops.keys()], ['c-2'])
    await termination.endStop('c-2', ['c-2'])
    assert.equal(files.files.size, 0)
  })

  test('writes nothing of a container that stops at once', async () => {
    const { termination, files } = createTermination({})
    termination.beginStop('c-1', 30)
    await termination.keepNoted(async () => {}, never)
    await termination.endStop('c-1', ['c-1'])
    assert.equal(files.files.size, 0)
  })

  test('sets a note aside that is none', async () => {
    for (const text of ['', '{', '[]', '{"version":2}', '{"version":1,"bootId":"b","endsAt":1,"hooks":[{"id":1}]}']) {
      const files = new FakePodFiles()
      files.files.set(PATH, text)
      const { termination, lines } = createTermination({ files })
      await termination.recall(true)
      assert.equal(termination.begin(30), 30, text)
      assert.deepEqual([...files.files.keys()], [`${PATH}.corrupt`])
      assert.equal(lines.length, 1)
    }
  })

  test('leaves a note alone that cannot be read for the moment, and knows it later', async () => {
    const { termination: first, files, clock } = createTermination({})
    first.begin(30)
    await first.endHook('c-1')
    const { read } = files.terminationNotes
    const { termination } = createTermination({ files, clock })
    files.terminationNotes.read = () => Promise.reject(Object.assign(new Error('EMFILE'), { code: 'EMFILE' }))
    await assert.rejects(termination.recall(true), { code: 'EMFILE' })
    assert.deepEqual([...files.files.keys()], [PATH])
    files.terminationNotes.read = read
    await termination.recall(true)
    assert.equal(termination.hook('c-1')?.ended, true)
  })

  test('goes on without a disk', async () => {
    const { termination, files, lines } = createTermination({})
    const failing = async () => assert.fail('no space')
    Object.assign(files.terminationNotes, { write: failing })
    termination.begin(30)
    await termination.endHook('c-1')
    assert.equal(termination.hook('c-1')?.ended, true)
    assert.equal(lines.length, 1)
  })

  test('leaves no timer behind', async () => {
    const { termination, clock } = createTermination({})
    termination.begin(30)
    await termination.keepNoted(async () => {}, never)
    assert.equal(clock.sleeping, 0)
  })
})
