import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestName } from './nearest-name.ts'

test('nearestName() finds what a misspelt name means', () => {
  const known = ['image', 'imagePullPolicy', 'command', 'env']
  const rows = [
    ['imge', 'image'],
    ['Image', 'image'],
    ['imagepullpolicy', 'imagePullPolicy'],
    ['comand', 'command'],
    ['somethingElse', undefined],
    ['x', undefined],
    ['x'.repeat(1000), undefined],
  ] as const
  for (const [name, expected] of rows) assert.equal(nearestName(name, known), expected)
})
