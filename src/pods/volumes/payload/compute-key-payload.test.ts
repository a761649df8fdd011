import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeKeyPayload } from './compute-key-payload.ts'

const [one, two] = [Uint8Array.of(1), Uint8Array.of(2)]
const data = new Map([
  ['one', one],
  ['two', two],
])
const selection = {
  items: undefined,
  defaultMode: 0o644,
  optional: false,
  missingKey: 'references non-existent secret key',
} as const

describe('computeKeyPayload()', () => {
  test('shows all keys under their names', () => {
    const expected = new Map([
      ['one', { content: one, mode: 0o644 }],
      ['two', { content: two, mode: 0o644 }],
    ])
    assert.deepEqual(computeKeyPayload(data, selection), expected)
    assert.deepEqual(computeKeyPayload(data, { ...selection, items: [] }), expected)
  })

  test('shows chosen keys at their paths, with modes of their own', () => {
    const items = [
      { key: 'two', path: 'dir/2', mode: 0o400 },
      { key: 'two', path: '2' },
    ]
    assert.deepEqual(
      computeKeyPayload(data, { ...selection, items }),
      new Map([
        ['dir/2', { content: two, mode: 0o400 }],
        ['2', { content: two, mode: 0o644 }],
      ]),
    )
  })

  test('names a key that is missing, unless it may be', () => {
    const items = [
      { key: 'three', path: '3' },
      { key: 'one', path: '1' },
    ]
    assert.throws(() => computeKeyPayload(data, { ...selection, items }), {
      message: 'references non-existent secret key: three',
    })
    const missingKey = 'configmap references non-existent config key'
    assert.throws(() => computeKeyPayload(data, { ...selection, items, missingKey }), {
      message: 'configmap references non-existent config key: three',
    })
    assert.deepEqual([...computeKeyPayload(data, { ...selection, items, optional: true }).keys()], ['1'])
  })
})
