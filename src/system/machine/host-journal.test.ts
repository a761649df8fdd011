import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { systemClock } from '../../base/async/clock.ts'
import { createHostJournal } from './host-journal.ts'

const { signal } = new AbortController()
const create = (script: string) => createHostJournal({ clock: systemClock, program: ['sh', '-c', script, 'sh'] })

test('createHostJournal() lists units, and has none where the program is missing or fails', async () => {
  assert.deepEqual(
    await create('echo a.service; echo b.service').units(signal),
    new Set(['a.service', 'b.service', '']),
  )
  assert.equal(await create('exit 1').units(signal), undefined)
  const missing = createHostJournal({ clock: systemClock, program: ['/absent/journalctl'] })
  assert.equal(await missing.units(signal), undefined)
})

test('createHostJournal() passes lines on, and says why there are none', async () => {
  const write = async (script: string) => {
    const sink = new PassThrough()
    const lines = text(sink)
    const problem = await create(script).write(['--x'], sink, signal)
    sink.end()
    return [await lines, problem]
  }
  assert.deepEqual(await write('echo "$@"'), ['--x\n', undefined])
  assert.deepEqual(await write('echo no >&2; exit 3'), ['', 'journalctl: no'])
  assert.deepEqual(await write('exit 3'), ['', 'journalctl: exit code 3'])
})

test('createHostJournal() ends the program when the reader is gone', async () => {
  const stop = new AbortController()
  const sink = new PassThrough()
  const writing = create('echo x; exec sleep 60').write([], sink, stop.signal)
  sink.once('data', () => stop.abort(new Error('left')))
  await assert.rejects(writing, /left/)
})
