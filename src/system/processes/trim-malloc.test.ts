import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { collectGarbage } from './collect-garbage.ts'
import { trimMalloc } from './trim-malloc.ts'

const PIECES = 40_000

test('trimMalloc() returns what malloc keeps below a piece in use', () => {
  const warnings: string[] = []
  process.on('warning', ({ message }) => warnings.push(message))
  let pieces = Array.from({ length: PIECES }, () => createHash('sha512'))
  const last = pieces.at(-1)
  pieces = []
  collectGarbage()
  const before = process.memoryUsage.rss()
  trimMalloc()
  const returned = before - process.memoryUsage.rss()
  // Each is some 500 bytes of the C library's, besides an object of JavaScript.
  assert.ok(returned > PIECES * 100, `${returned} bytes were returned`)
  assert.equal(last?.update('').digest().length, 64)
  assert.deepEqual(warnings, [])
})
