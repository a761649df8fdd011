import assert from 'node:assert/strict'
import { SourceMap } from 'node:module'
import { test } from 'node:test'
import { transform } from 'esbuild'
import { encodeLineTable, LineTable } from './line-table.ts'

test('LineTable finds what a source map says of each place', async () => {
  const text = Array.from(
    { length: 40 },
    (_, index) =>
      `export function f${index}(to: number): number {\n  const {x} = {x: to}\n\n  return x +\n ${index}\n}`,
  ).join('\n')
  const { map, code } = await transform(text, { loader: 'ts', sourcemap: 'external', sourcefile: 'src/a.ts' })
  const table = new LineTable(encodeLineTable(JSON.parse(map)))
  const known = new SourceMap(JSON.parse(map))
  for (const [index, line] of code.split('\n').entries()) {
    for (let column = 1; column <= line.length; column += 1) {
      const origin = known.findOrigin(index + 1, column)
      const place = table.find(index + 1, column)
      if (!('fileName' in origin)) continue
      const { fileName: source, lineNumber, columnNumber } = origin
      assert.deepEqual(place, { source, line: lineNumber, column: columnNumber }, `line ${index + 1}, column ${column}`)
    }
  }
  assert.equal(table.find(10_000, 1), undefined)
})

test('LineTable has no place for what no source has', () => {
  const table = new LineTable(encodeLineTable({ sources: [], mappings: '' }))
  assert.equal(table.find(1, 1), undefined)
})
