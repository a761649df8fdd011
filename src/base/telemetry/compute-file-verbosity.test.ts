import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeFileVerbosity } from './compute-file-verbosity.ts'

describe('computeFileVerbosity()', () => {
  const rows: readonly (readonly [pattern: string, file: string, isMeant: boolean])[] = [
    ['observer', '/app/src/pods/observe/observer.ts', true],
    ['observer', '/app/src/pods/observe/observer.js', true],
    ['observer', '/app/src/pods/observe/run-observer.ts', false],
    ['*observer', '/app/src/pods/observe/run-observer.ts', true],
    ['pod-?orker', '/app/src/pods/sync/pod-worker.ts', true],
    ['pod-[v-x]orker', '/app/src/pods/sync/pod-worker.ts', true],
    ['observe/*', '/app/src/pods/observe/observer.ts', true],
    ['src/*', '/app/src/pods/observe/observer.ts', false],
    ['a.b', '/app/src/axb.ts', false],
    ['(', '/app/src/pods/observe/observer.ts', false],
  ]
  for (const [filePattern, file, isMeant] of rows)
    test(`"${filePattern}" ${isMeant ? 'is' : 'is not'} for ${file}`, () => {
      assert.equal(computeFileVerbosity([{ filePattern, verbosity: 5 }], file), isMeant ? 5 : 0)
    })

  test('takes the first that fits', () => {
    const rules = [
      { filePattern: 'a*', verbosity: 3 },
      { filePattern: '*', verbosity: 9 },
    ]
    assert.deepEqual(
      ['/abc.ts', '/b.ts'].map((file) => computeFileVerbosity(rules, file)),
      [3, 9],
    )
  })
})
