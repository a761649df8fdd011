import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDevicesAnnotation, parseDevicesAnnotation } from './devices-annotation-text.ts'

test('a note of devices can be read again, and an invalid one is empty', () => {
  const devices = new Map([['example.com/gpu', { ids: ['a', 'b'] }]])
  assert.deepEqual(parseDevicesAnnotation(formatDevicesAnnotation(devices)), new Map([['example.com/gpu', ['a', 'b']]]))
  for (const text of ['', 'null', '[', '3', '{"a":"b"}', '{"a":[1]}'])
    assert.deepEqual(parseDevicesAnnotation(text), new Map(), text)
})
