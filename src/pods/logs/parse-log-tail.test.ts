import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { parseLogTail } from './parse-log-tail.ts'

const AT = '2026-01-01T00:00:00.123456789Z'
const limits = { entries: 3, bytes: 20 }
const parse = (text: string) => parseLogTail(Buffer.from(text), limits)

const rows: Readonly<Record<string, readonly [log: string, text: string]>> = {
  nothing: ['', ''],
  'one line': [`${AT} stdout F hello\n`, 'hello\n'],
  'both streams, in order': [`${AT} stdout F out\n${AT} stderr F err\n`, 'out\nerr\n'],
  'the last entries': [['a', 'b', 'c', 'd'].map((text) => `${AT} stdout F ${text}\n`).join(''), 'b\nc\nd\n'],
  'a line in parts': [`${AT} stdout P he\n${AT} stdout P ll\n${AT} stdout F o\n`, 'hello\n'],
  'more tags': [`${AT} stdout P:x he\n${AT} stdout F:x llo\n`, 'hello\n'],
  'an empty line': [`${AT} stdout F \n`, '\n'],
  spaces: [`${AT} stdout F  a  b \n`, ' a  b \n'],
  'a line that looks like an entry': [`${AT} stdout F ${AT} stderr P x\n`, 'Z stderr P x\n'.padStart(20, '3456789')],
  'the last bytes': [`${AT} stdout F ${'x'.repeat(30)}end\n`, `${'x'.repeat(16)}end\n`],
  'whole characters': [`${AT} stdout F ${'ä'.repeat(30)}\n`, `${'ä'.repeat(9)}\n`],
  'an entry without its beginning': [`tail of it\n${AT} stdout F end\n`, 'tail of it\nend\n'],
  'an entry without its end': [`${AT} stdout F half`, 'half\n'],
}

describe('parseLogTail()', () => {
  test('reads what Docker writes, too', () => {
    const entry = (log: string) => `${JSON.stringify({ log, stream: 'stderr', time: '2026-01-01T00:00:00Z' })}\n`
    const whole = parseLogTail(Buffer.from(`${entry('one\n')}${entry('tw')}${entry('o\n')}`), limits)
    assert.equal(whole, 'one\ntwo\n'.slice(-limits.bytes))
    assert.equal(parseLogTail(Buffer.from('{x}\n'), limits), '{x}\n'.slice(-limits.bytes))
  })

  for (const [name, [log, text]] of Object.entries(rows)) test(name, () => assert.equal(parse(log), text))

  test('gives back what was printed', () => {
    const line = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\n'))
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const log = lines.map((text) => `${AT} stdout F ${text}\n`).join('')
        const text = parseLogTail(Buffer.from(log), { entries: 80, bytes: 1_000_000 })
        assert.equal(text, lines.map((each) => `${each}\n`).join(''))
      }),
    )
  })

  test('takes any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        assert.ok(parseLogTail(bytes, limits).length <= limits.bytes)
      }),
    )
  })
})
