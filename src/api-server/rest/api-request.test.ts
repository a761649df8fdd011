import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toWarnings } from './api-request.ts'

describe('warnings as headers', () => {
  test('each once, quoted, in printable characters', () => {
    assert.deepEqual(toWarnings(['a "b"', 'a "b"', 'ü\n']), ['299 - "a \\"b\\""', '299 - "??"'])
  })

  test('a long one is whole where there is room', () => {
    assert.deepEqual(toWarnings(['x'.repeat(300)]), [`299 - "${'x'.repeat(300)}"`])
  })

  test('many are cut, and not all of them fit', () => {
    const headers = toWarnings(Array.from({ length: 5000 }, (_, index) => `${index}`.padEnd(400, 'x')))
    assert.equal(headers.length, 16)
    for (const header of headers) assert.ok(header.length <= 256 + '299 - ""'.length)
  })
})
