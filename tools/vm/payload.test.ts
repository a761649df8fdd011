import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withDependencies } from './payload.ts'

test('withDependencies() follows the lock file, once for each package', () => {
  const packages = {
    'node_modules/a': { dependencies: { b: '1', c: '1' } },
    'node_modules/b': { dependencies: { c: '1', a: '1' } },
    'node_modules/c': {},
    'node_modules/d': { dependencies: { a: '1' } },
  }
  assert.deepEqual(withDependencies({ packages }, ['a']).toSorted(), ['a', 'b', 'c'])
})
