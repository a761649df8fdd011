import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDevicesNote, parseDevicesNote } from './devices-note.ts'

test('a note of devices can be read again, and an invalid one is empty', () => {
  const devices = new Map([['example.com/gpu', { ids: ['a', 'b'] }]])
  assert.deepEqual(parseDevicesNote(formatDevicesNote(devices)), new Map([['example.com/gpu', ['a', 'b']]]))
  for (const text of ['', 'null', '[', '3', '{"a":"b"}', '{"a":[1]}'])
    assert.deepEqual(parseDevicesNote(text), new Map(), text)
})
