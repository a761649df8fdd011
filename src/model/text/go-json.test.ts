import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goJson } from './go-json.ts'

test('goJson() escapes what Go escapes and reads back as the same value', () => {
  const value = { text: '<a> & "b"\u2028\u2029 ü', absent: undefined }
  assert.equal(goJson(value), String.raw`{"text":"\u003ca\u003e \u0026 \"b\"\u2028\u2029 ü"}`)
  assert.deepEqual(JSON.parse(goJson(value)), { text: value.text })
})
