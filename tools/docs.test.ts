import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { layers } from './layers.ts'

const root = join(import.meta.dirname, '..')
// Three screens; what does not fit belongs on a page of its own.
const README_LINES = 120
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]

/** A heading as a link names it. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(' ', '-')
}

function anchorsOf(path: string): readonly string[] {
  return [...readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => toAnchor(heading))
}

describe('the documentation', () => {
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8')

    test(`${page} links to what is there`, () => {
      const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)]
      const broken = links.filter(([, path = '', anchor]) => {
        const target = path === '' ? join(root, page) : join(root, dirname(page), path)
        return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
      })
      assert.deepEqual(
        broken.map(([link]) => link),
        [],
      )
    })

    test(`${page} names only files that are there`, () => {
      const quoted = [...text.matchAll(/`((?:bin|docs|src|test|tools)\/[\w./-]+)`/g)].map(([, name = '']) => name)
      // In drawings they stand without quotes.
      const drawn = [...text.matchAll(/^ .*?((?:src|test|tools)\/[\w./-]+\w)/gm)].map(([, name = '']) => name)
      const names = [...quoted, ...drawn]
      assert.deepEqual(
        names.filter((name) => !existsSync(join(root, name))),
        [],
      )
    })
  }

  test('has every folder of src in the code map, in the order of the layers', () => {
    const map = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
    const listed = [...map.matchAll(/^\| `src\/([\w/-]+)` \|/gm)].map(([, name]) => name)
    assert.deepEqual(listed, Object.keys(layers))
  })

  test('has a row for every folder of the standalone API', () => {
    const map = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
    const listed = [...map.matchAll(/^\| … `src\/api-server\/([\w-]+)` \|/gm)].map(([, name = '']) => name)
    const folders = readdirSync(join(root, 'src/api-server'), { withFileTypes: true }).filter((each) =>
      each.isDirectory(),
    )
    assert.deepEqual(listed.toSorted(), folders.map(({ name }) => name).sort())
  })

  test('has a README that fits on three screens', () => {
    const lines = readFileSync(join(root, 'README.md'), 'utf8').trimEnd().split('\n')
    assert.ok(lines.length <= README_LINES, `${lines.length} lines, expected at most ${README_LINES}`)
  })

  test('names a test for each row of the support table', () => {
    const table = readFileSync(join(root, 'docs/support.md'), 'utf8')
    const rows = [...table.matchAll(/^\| (.*?) \| (works|partly|not yet)\b.* \| (.*) \|$/gm)]
    const without = rows.filter(([, , , tests = '']) => !/`(src|test|tools)\/[\w./-]+\.test\.ts`/.test(tests))
    assert.deepEqual(
      without.map(([, feature]) => feature),
      [],
    )
    // The head and the line below it are the only ones that are no row.
    assert.equal(rows.length, table.split('\n').filter((line) => line.startsWith('|')).length - 2)
  })

  test('links every checklist from the page of the architecture', () => {
    const page = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
    const lists = readdirSync(join(root, 'docs/checklists'))
    assert.deepEqual(
      lists.filter((name) => !page.includes(`](checklists/${name})`)),
      [],
    )
  })

  test('gives each decision a status and its alternatives', () => {
    const folder = join(root, 'docs/decisions')
    const faults = readdirSync(folder).flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      const isStated = /^# .+\n\nStatus: (accepted|superseded by \[\d{4}\]\(.+\))/i.test(text)
      return [
        ...(isStated ? [] : [`${name}: no status below the title`]),
        ...(text.includes('\n## Alternatives\n') ? [] : [`${name}: no alternatives`]),
      ]
    })
    assert.deepEqual(faults, [])
  })

  test('has one decision for a number, with no number left out', () => {
    const numbers = readdirSync(join(root, 'docs/decisions')).map((name) => Number(name.slice(0, 4)))
    assert.deepEqual(
      numbers.toSorted((a, b) => a - b),
      numbers.map((_, index) => index + 1),
    )
  })
})
