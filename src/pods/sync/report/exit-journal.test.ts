import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { FakeJournalFiles } from '../../../../test/fakes/fake-journal-files.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import type { PodStatus } from '../../../model/generated/core-v1.ts'
import { parsePodUid } from '../../../model/pod/pod.ts'
import { ExitJournal } from './exit-journal.ts'
import { formatFinishedPod } from './parse-finished-pod.ts'

const uid = parsePodUid('u-1')
const failed: PodStatus = {
  phase: 'Failed',
  reason: 'DeadlineExceeded',
  conditions: [{ type: 'Ready', status: 'False' }],
  containerStatuses: [
    {
      name: 'main',
      image: 'app:1',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode: 7 } },
    },
  ],
}

async function load(files: FakeJournalFiles) {
  const errors: string[] = []
  const log = { ...silentLogger, error: (message: string) => void errors.push(message) }
  return { journal: await ExitJournal.load({ files, log }), errors }
}

describe('ExitJournal', () => {
  test('knows after a restart how a pod ended, until the pod is forgotten', async () => {
    const files = new FakeJournalFiles()
    const first = await load(files)
    assert.equal(first.journal.get(uid), undefined)
    await first.journal.record(uid, failed)
    const second = await load(files)
    assert.deepEqual([second.journal.uids(), second.journal.get(uid)], [[uid], failed])
    await second.journal.forget(uid)
    assert.deepEqual([second.journal.get(uid), files.files.size], [undefined, 0])
  })

  test('writes only what is new', async () => {
    const files = new FakeJournalFiles()
    const { journal } = await load(files)
    await journal.record(uid, failed)
    await journal.record(uid, { ...failed })
    assert.equal(files.writes, 1)
    await journal.record(uid, { ...failed, message: 'more' })
    assert.equal(files.writes, 2)
  })

  test('writes later what a full disk did not take, without being asked again', async () => {
    const files = new FakeJournalFiles()
    const { journal, errors } = await load(files)
    const clock = new FakeClock()
    const stop = new AbortController()
    const running = journal.run(clock, stop.signal)
    files.failure = new Error('ENOSPC')
    const other = parsePodUid('u-2')
    await journal.record(uid, failed)
    await journal.record(other, failed)
    await journal.forget(other)
    await clock.advance(10_000)
    assert.deepEqual([files.files.size, journal.get(uid)], [0, failed])
    files.failure = undefined
    await clock.advance(10_000)
    assert.deepEqual([...files.files.keys()], ['u-1.json'])
    assert.deepEqual((await load(files)).journal.get(uid), failed)
    await clock.advance(60_000)
    assert.deepEqual([files.writes, clock.sleeping], [1, 0])
    assert.equal(errors.length, 3)
    stop.abort(new Error('leave'))
    await assert.rejects(running, /leave/)
  })

  test('writes the notes of other pods where one can never be written', async () => {
    const files = new FakeJournalFiles()
    const { journal } = await load(files)
    const clock = new FakeClock()
    const stop = new AbortController()
    const running = journal.run(clock, stop.signal)
    files.failure = new Error('ENOSPC')
    await journal.record(uid, failed)
    await journal.record(parsePodUid('u-2'), failed)
    files.failure = undefined
    const write = files.write.bind(files)
    // Such as a folder in its place.
    files.write = async (name, text) => {
      if (name === `${uid}.json`) throw new Error('EISDIR')
      await write(name, text)
    }
    await clock.advance(10_000)
    assert.deepEqual([...files.files.keys()], ['u-2.json'])
    stop.abort(new Error('leave'))
    await assert.rejects(running, /leave/)
  })

  test('is a matter of the log when the disk fails, and tries again', async () => {
    const files = new FakeJournalFiles()
    files.failure = new Error('ENOSPC')
    const { journal, errors } = await load(files)
    await journal.record(uid, failed)
    assert.deepEqual(errors, [
      'cannot read which pods have finished',
      'cannot note that a pod has finished, will try again; it may run again if the agent ends before that',
    ])
    assert.deepEqual(journal.get(uid), failed, 'what was seen is known, whatever the disk does')
    files.failure = undefined
    await journal.record(uid, failed)
    assert.equal(files.files.size, 1)
    files.failure = new Error('EIO')
    await journal.forget(uid)
    assert.equal(errors.length, 3)
  })

  const note = (parts: object) => JSON.stringify({ version: 1, uid, status: failed, ...parts })
  for (const [what, text] of Object.entries({
    'cut off': formatFinishedPod(uid, failed).slice(0, 40),
    empty: '',
    'of another kind': '[]',
    'of a later version': note({ version: 2 }),
    'about another pod': note({ uid: 'u-2' }),
    'about a pod that runs': note({ status: { phase: 'Running' } }),
    'without a status': note({ status: undefined }),
    'with containers without names': note({ status: { phase: 'Failed', containerStatuses: [{}] } }),
    'with conditions that are none': note({ status: { phase: 'Failed', conditions: {} } }),
  })) {
    test(`sets aside a note that is ${what}, with one line in the log`, async () => {
      const files = new FakeJournalFiles()
      files.files.set('u-1.json', text).set('u-3.json', formatFinishedPod(parsePodUid('u-3'), failed))
      const { journal, errors } = await load(files)
      assert.deepEqual(journal.uids(), ['u-3'])
      assert.deepEqual(errors, ['a note about a finished pod cannot be used, setting it aside'])
      assert.deepEqual([...files.files.keys()].sort(), ['u-1.json.broken', 'u-3.json'])
    })
  }

  for (const [what, spoil] of [
    ['all notes', (files: FakeJournalFiles, error: Error) => void (files.failure = error)],
    ['one note', (files: FakeJournalFiles, error: Error) => void (files.read = () => Promise.reject(error))],
  ] as const)
    test(`does not load without a descriptor to read ${what}, and sets nothing aside`, async () => {
      const files = new FakeJournalFiles()
      files.files.set('u-1.json', formatFinishedPod(uid, failed))
      spoil(files, Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' }))
      await assert.rejects(load(files), { code: 'EMFILE' })
      assert.deepEqual([...files.files.keys()], ['u-1.json'])
    })

  test('sets a note aside that the disk cannot give', async () => {
    const files = new FakeJournalFiles()
    files.files.set('u-1.json', formatFinishedPod(uid, failed))
    files.read = () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' }))
    const { journal } = await load(files)
    assert.deepEqual([journal.uids(), [...files.files.keys()]], [[], ['u-1.json.broken']])
  })

  test('leaves alone what was set aside, and half a write', async () => {
    const files = new FakeJournalFiles()
    files.files.set('u-1.json.broken', 'x').set('u-1.json.new', '{')
    const { errors } = await load(files)
    assert.deepEqual([errors, files.files.size], [[], 2])
  })
})
