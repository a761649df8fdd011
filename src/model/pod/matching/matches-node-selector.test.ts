import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../../generated/core-v1.ts'
import { matchesNodeSelector } from './matches-node-selector.ts'

const node = { name: 'n1', labels: { zone: 'a', cores: '8', empty: '' } }

function matches(...nodeSelectorTerms: readonly NodeSelectorTerm[]): boolean {
  return matchesNodeSelector({ nodeSelectorTerms }, node)
}

const rows: readonly (readonly [key: string, operator: string, values: readonly string[] | undefined, boolean])[] = [
  ['zone', 'In', ['a', 'b'], true],
  ['zone', 'In', ['b'], false],
  ['zone', 'In', [], false],
  ['other', 'In', ['a'], false],
  ['empty', 'In', [''], true],
  ['constructor', 'Exists', undefined, false],
  ['zone', 'NotIn', ['b'], true],
  ['zone', 'NotIn', ['a'], false],
  ['other', 'NotIn', ['a'], true],
  ['zone', 'Exists', undefined, true],
  ['other', 'Exists', undefined, false],
  ['zone', 'DoesNotExist', undefined, false],
  ['other', 'DoesNotExist', undefined, true],
  ['cores', 'Gt', ['7'], true],
  ['cores', 'Gt', ['8'], false],
  ['cores', 'Gt', ['-1'], true],
  ['cores', 'Lt', ['9'], true],
  ['cores', 'Lt', ['+9'], true],
  ['cores', 'Lt', ['8'], false],
  ['cores', 'Gt', ['x'], false],
  ['zone', 'Gt', ['1'], false],
  ['other', 'Lt', ['1'], false],
  ['cores', 'Gt', ['1', '2'], false],
  ['zone', 'Near', ['a'], false],
]

describe('matchesNodeSelector()', () => {
  for (const [key, operator, values, expected] of rows) {
    test(`${key} ${operator} ${String(values ?? '')} is ${expected}`, () => {
      assert.equal(matches({ matchExpressions: [{ key, operator, values }] }), expected)
    })
  }

  const good: NodeSelectorRequirement = { key: 'zone', operator: 'Exists' }
  const bad: NodeSelectorRequirement = { key: 'zone', operator: 'DoesNotExist' }
  const named = (name: string) => ({ key: 'metadata.name', operator: 'In', values: [name] })

  test('wants all of a term, and one of the terms', () => {
    assert.equal(matches({ matchExpressions: [good, bad] }), false)
    assert.equal(matches({ matchExpressions: [good, bad] }, { matchExpressions: [good] }), true)
  })

  test('fits nothing without terms, or with an empty one', () => {
    assert.equal(matches(), false)
    assert.equal(matches({}), false)
    assert.equal(matches({ matchExpressions: [], matchFields: [] }), false)
  })

  test('reads the name as a field, not as a label, and no other field', () => {
    assert.equal(matches({ matchFields: [named('n1')] }), true)
    assert.equal(matches({ matchFields: [named('n2')] }), false)
    assert.equal(matches({ matchExpressions: [named('n1')] }), false)
    assert.equal(matches({ matchFields: [{ key: 'zone', operator: 'Exists' }] }), false)
  })
})
