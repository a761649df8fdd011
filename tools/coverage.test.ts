import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

const root = join(import.meta.dirname, '..')
const pages = readdirSync(join(root, 'docs/coverage')).map((name) => join('docs/coverage', name))

interface Line {
  readonly number: number
  readonly shownBy: string
}

function linesOf(page: string): readonly Line[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^\| (\d+) \| [^|]+ \| (.*) \|$/gm)].map(([, number, shownBy = '']) => ({
    number: Number(number),
    shownBy,
  }))
}

/** The tests that a line names: a file, then words of the name of a test in it. */
function testsOf({ shownBy }: Line): readonly (readonly [file: string, name: string])[] {
  return [...shownBy.matchAll(/`([^`]+\.ts)` "([^"]+)"/g)].map(([, file = '', name = '']) => [file, name])
}

describe('the tables of what is shown by which test', () => {
  for (const page of pages) {
    test(`${page} has every line once, in order`, () => {
      const numbers = linesOf(page).map(({ number }) => number)
      assert.ok(numbers.length > 0)
      assert.deepEqual(
        numbers,
        numbers.map((_, index) => index + 1),
      )
    })

    test(`${page} names tests that are there, or says that there are none yet`, () => {
      const wrong = linesOf(page).flatMap((line) => {
        const tests = testsOf(line)
        const isSaid = tests.length > 0 || line.shownBy.includes('not yet')
        const missing = tests.filter(([file, name]) => {
          const path = join(root, file)
          return !existsSync(path) || !readFileSync(path, 'utf8').includes(name)
        })
        return [...(isSaid ? [] : [`${line.number}: names no test`]), ...missing.map((each) => each.join(' › '))]
      })
      assert.deepEqual(wrong, [])
    })
  }
})
