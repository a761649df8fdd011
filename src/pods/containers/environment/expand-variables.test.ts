import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { expandVariables } from './expand-variables.ts'

const values = new Map([
  ['A', 'a'],
  ['B', '$(A)'],
  ['EMPTY', ''],
  ['odd name', 'odd'],
])
const lookup = (name: string) => values.get(name)

describe('expandVariables()', () => {
  const rows = [
    ['plain', 'plain'],
    ['$(A)', 'a'],
    ['x-$(A)-$(A)-y', 'x-a-a-y'],
    ['$(UNKNOWN)', '$(UNKNOWN)'],
    ['$(EMPTY)', ''],
    ['$$', '$'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$a'],
    ['$$$$(A)', '$$(A)'],
    ['$A', '$A'],
    ['$x$(A)', '$xa'],
    ['$(A', '$(A'],
    ['$(A and $$', '$(A and $'],
    ['end$', 'end$'],
    ['$()', '$()'],
    ['$(odd name)', 'odd'],
    ['$($(A)', '$($(A)'],
    ['$(B)', '$(A)'],
    ['$(A)\n$(A)', 'a\na'],
  ] as const
  for (const [text, expected] of rows) {
    test(JSON.stringify(text), () => assert.equal(expandVariables(text, lookup), expected))
  }

  test('never throws', () => {
    const piece = fc.oneof(fc.constantFrom('$', '(', ')', 'A', '$(A)'), fc.string())
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expandVariables(pieces.join(''), lookup)
      }),
    )
  })

  test('leaves a text without "$" as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const without = text.replaceAll('$', '')
        assert.equal(expandVariables(without, lookup), without)
      }),
    )
  })

  test('gives back any text in which every "$" is doubled', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        assert.equal(expandVariables(text.replaceAll('$', '$$$$'), lookup), text)
      }),
    )
  })
})
