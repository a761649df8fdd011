import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { createLogOutput } from './create-log-output.ts'
import type { LogOutputOptions } from './create-log-output.ts'

function setUp(options: Partial<LogOutputOptions>) {
  const clock = new FakeClock()
  const written: string[] = []
  const output = createLogOutput({
    split: true,
    bufferBytes: 0,
    flushMs: 5000,
    writeInfo: (text) => void written.push(`out ${text}`),
    writeError: (text) => void written.push(`err ${text}`),
    clock,
    ...options,
  })
  return { clock, written, output }
}

describe('createLogOutput()', () => {
  test('writes all to one stream unless they are split', () => {
    const { written, output } = setUp({ split: false, bufferBytes: 100 })
    output.write('a', 'info')
    output.write('b', 'error')
    assert.deepEqual(written, ['err a', 'err b'])
  })

  test('splits by level', () => {
    const { written, output } = setUp({})
    for (const level of ['error', 'warn', 'info', 'debug'] as const) output.write(level, level)
    assert.deepEqual(written, ['err error', 'err warn', 'out info', 'out debug'])
  })

  test('holds back as much as it may, and never for longer than the flush frequency', async () => {
    const { clock, written, output } = setUp({ bufferBytes: 4 })
    output.write('ä', 'info')
    output.write('b', 'info')
    output.write('E', 'error')
    assert.deepEqual(written, ['err E'])
    output.write('cd', 'info')
    assert.deepEqual(written.splice(0), ['err E', 'out äb'], 'what would not fit goes first, whole')
    await clock.advance(4999)
    assert.deepEqual(written, [])
    await clock.advance(1)
    assert.deepEqual(written.splice(0), ['out cd'])
    output.write('longer', 'info')
    assert.deepEqual(written.splice(0), ['out longer'])
    output.write('e', 'info')
    output.flush()
    assert.deepEqual(written, ['out e'])
    await clock.advance(5000)
    assert.equal(clock.sleeping, 0)
  })
})
