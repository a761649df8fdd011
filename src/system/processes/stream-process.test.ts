import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { systemClock } from '../../base/async/clock.ts'
import { streamProcess } from './stream-process.ts'

const never = new AbortController().signal

async function run(argv: readonly string[], source: Readable, signal = never) {
  const sink = new PassThrough()
  const result = await streamProcess(systemClock, { argv, deadlineMs: 20_000, sink, source }, signal)
  sink.end()
  return { ...result, stdout: await text(sink) }
}

describe('streamProcess() with something to read', () => {
  test('passes it to the program', async () => {
    const result = await run(['cat'], Readable.from([Buffer.from('one '), Buffer.from('two')]))
    assert.deepEqual(result, { exitCode: 0, stderr: '', stdout: 'one two' })
  })

  test('gives the answer of a program that does not read all of it', async () => {
    const endless = new Readable({ read: (size) => endless.push(Buffer.alloc(size)) && undefined })
    const result = await run(['sh', '-c', 'echo enough >&2; exit 3'], endless)
    assert.deepEqual([result.exitCode, result.stderr], [3, 'enough\n'])
  })

  test('ends the program when the source fails', async () => {
    const source = new Readable({ read: () => source.destroy(new Error('cut off')) && undefined })
    await assert.rejects(run(['cat'], source), { message: 'cut off' })
  })
})
