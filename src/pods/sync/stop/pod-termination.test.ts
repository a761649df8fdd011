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
}) {
  const { files = new FakePodFiles(), clock = new FakeClock(), bootId = 'b' } = parts
  const lines: string[] = []
  const log = { warn: (text: string) => void lines.push(text) } as unknown as Logger
  const termination = new PodTermination({ terminations: { notes: files.terminationNotes, bootId }, clock, log }, UID)
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
    files.files.set(PATH, formatTerminationNote({ bootId: 'a', endsAt: 5, hooks: new Map() }))
    const { termination } = createTermination({ files })
    await termination.recall(true)
    assert.equal(termination.secondsLeft, undefined)
    assert.equal(termination.begin(30), 30)
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
