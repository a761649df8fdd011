import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { concernsName, formatFileProblem, parseFileProblems } from './file-problems.ts'

const problem = { file: '/apply/shop/web.yaml', line: 3, object: 'Pod default/front', reason: 'unknown field "x"' }

describe('problems with files', () => {
  test('name file, line, object and reason', () => {
    assert.equal(formatFileProblem(problem), '/apply/shop/web.yaml:3: Pod default/front: unknown field "x"')
    assert.equal(
      formatFileProblem({ file: '/m/a', reason: 'empty', hasLastGood: true }),
      '/m/a: empty (its last good version goes on)',
    )
  })

  for (const name of ['web', 'web.yaml', '/apply/shop/web.yaml', 'front', 'default/front', 'Pod default/front'])
    test(`are found by ${name}`, () => assert.equal(concernsName(problem, name), true))
  for (const name of ['shop', 'default', 'Pod', 'fron', ''])
    test(`are not found by "${name}"`, () => assert.equal(concernsName(problem, name), false))

  test('are found by what else is in the file', () => {
    const several = { file: '/m/two.yaml', reason: 'empty', names: ['default/a', 'shop/b'] }
    assert.deepEqual(
      ['a', 'default/a', 'b', 'shop/b', 'shop', 'c'].map((name) => concernsName(several, name)),
      [true, true, true, true, false, false],
    )
  })

  test('are read from a file; a damaged one has none', () => {
    assert.deepEqual(parseFileProblems(JSON.stringify([problem, 5])), [problem])
    assert.deepEqual([parseFileProblems('[{'), parseFileProblems('{}'), parseFileProblems(undefined)], [[], [], []])
  })
})
