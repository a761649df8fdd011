import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, test } from 'node:test'

const root = join(import.meta.dirname, '..')
const MOST_FILES = 20

const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name) && !name.includes('generated/'))
  .sort()

/** Those that stand in several places, with the places. */
function findShared(entries: readonly (readonly [name: string, place: string])[]): readonly string[] {
  return [...Map.groupBy(entries, ([name]) => name)]
    .filter(([, places]) => places.length > 1)
    .map(([name, places]) => `${name}: ${places.map(([, place]) => place).join(', ')}`)
    .sort()
}

const TYPE = /^export (?:abstract )?(?:interface|type|class) (\w+)/gm

function exportedTypes(file: string): readonly string[] {
  return [...readFileSync(join(root, 'src', file), 'utf8').matchAll(TYPE)].map(([, name = '']) => name)
}

describe('names', () => {
  test('no two files of src have one name', () => {
    assert.deepEqual(findShared(files.map((file) => [basename(file), dirname(file)])), [])
  })

  test('no two files of src export a type of one name', () => {
    const types = files.flatMap((file) => exportedTypes(file).map((name) => [name, file] as const))
    assert.ok(types.length > 1000, `only ${types.length} types were found`)
    assert.deepEqual(findShared(types), [])
  })

  test(`no folder of src has more than ${MOST_FILES} files beside their tests`, () => {
    const folders = Map.groupBy(files, dirname)
    const full = [...folders].filter(([, own]) => own.length > MOST_FILES)
    assert.deepEqual(
      full.map(([folder, own]) => `${folder}: ${own.length}`),
      [],
    )
  })
})
