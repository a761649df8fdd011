import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { TextPlaces } from './text-places.ts'

test('TextPlaces counts lines and columns from 1, up to the end of the text', () => {
  const places = new TextPlaces('ab\n\ncd')
  const at = [0, 1, 2, 3, 4, 5, 6, 99].map((offset) => places.at(offset)).map(({ line, column }) => `${line}:${column}`)
  assert.deepEqual(at, ['1:1', '1:2', '1:3', '2:1', '3:1', '3:2', '3:3', '3:3'])
})

test('TextPlaces agrees with counting', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', '\n')), fc.nat(50), (letters, offset) => {
      const text = letters.join('')
      const lines = text.slice(0, offset).split('\n')
      assert.deepEqual(new TextPlaces(text).at(offset), { line: lines.length, column: (lines.at(-1) ?? '').length + 1 })
    }),
  )
})
