import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUserNamespace } from './is-user-namespace.ts'

test('isUserNamespace() knows the map of the machine, and every other', () => {
  const maps = [
    '         0          0 4294967295\n',
    '         0       1000          1\n',
    '0 0 1\n1 1 4294967294\n',
    '',
  ]
  assert.deepEqual(maps.map(isUserNamespace), [false, true, true, false])
})
