import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatProbeNote, parseProbeNote } from './probe-note.ts'

describe('the note about probes', () => {
  test('is read as it was written, whatever the order', () => {
    const note = new Map([
      ['b', { started: true, ready: false }],
      ['a', { started: true, ready: true }],
    ])
    assert.deepEqual(parseProbeNote(formatProbeNote(note)), new Map([...note].toReversed()))
    assert.equal(formatProbeNote(note), formatProbeNote(new Map([...note].toReversed())))
  })

  for (const text of [
    '',
    'null',
    '{}',
    '{"version":2,"containers":[]}',
    '{"version":1,"containers":{}}',
    '{"version":1,"containers":[null]}',
    '{"version":1,"containers":[{"id":"a","started":true}]}',
    '{"version":1,"containers":[{"id":"a"',
  ]) {
    test(`is not ${JSON.stringify(text)}`, () => assert.throws(() => parseProbeNote(text)))
  }
})
