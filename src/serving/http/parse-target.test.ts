import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseTarget } from './parse-target.ts'

test('parseTarget() takes a target apart, and refuses what could be read in two ways', () => {
  const rows: readonly (readonly [string, readonly string[] | undefined])[] = [
    ['/', []],
    ['/a', ['a']],
    ['/a/', ['a']],
    ['/a/b%20c', ['a', 'b c']],
    ['/%65xec/n', ['exec', 'n']],
    ['/a%3Fb', ['a?b']],
    ['a', undefined],
    ['', undefined],
    ['*', undefined],
    ['http://host/pods', undefined],
    ['//pods', undefined],
    ['/a//b', undefined],
    ['/a//', undefined],
    ['/./a', undefined],
    ['/a/../b', undefined],
    ['/a/%2e%2e/b', undefined],
    ['/a%2fb', undefined],
    ['/a%00', undefined],
    ['/a%zz', undefined],
    ['/a%ff', undefined],
  ]
  for (const [url, segments] of rows) assert.deepEqual(parseTarget(url)?.segments, segments, url)
  assert.equal(parseTarget('/a?x=1&y=a/../b')?.query.get('y'), 'a/../b')
})

test('parseTarget() gives parts that are the same when written and read again', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), (text) => {
      const segments = parseTarget(`/${text}`)?.segments
      if (segments === undefined) return
      assert.deepEqual(parseTarget(`/${segments.map(encodeURIComponent).join('/')}`)?.segments, segments)
    }),
  )
})
